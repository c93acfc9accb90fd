//! Platform case 059: the disk that holds the record is full for a while.

use std::time::Duration;

use super::scripted::{job, names};
use super::{Bench, Health};

/// The store closes a connection that failed, and with it SQLite's limit: as when somebody makes room.
#[tokio::test]
async fn a_full_disk_is_said_and_costs_no_entry() {
    let bench = Bench::new().await;
    let (recorder, _guard) = bench.recorder().await;
    bench.server.put("jobs", job("first", "u", true));
    bench
        .until(&recorder, |record| names(record, "added") == 1)
        .await;
    let mut health = recorder.health();
    let said = tokio::spawn(async move {
        let full = |health: &Health| matches!(health, Health::NotWriting { .. });
        health.wait_for(full).await.map(|health| health.clone())
    });
    // Not below what it has: no page more.
    bench.store.limit_pages(1).await.expect("limit");
    for number in 0..1500 {
        let name = format!("j{number}");
        bench.server.put("jobs", job(&name, &name, true));
    }
    let record = bench
        .until(&recorder, |record| names(record, "added") >= 1501)
        .await;
    assert_eq!(record.len(), 1501, "an entry appears twice");
    let said = tokio::time::timeout(Duration::from_secs(20), said).await;
    let said = said.expect("it was said").expect("it ends");
    let said = said.expect("the recorder runs");
    let Health::NotWriting { reason } = said else {
        panic!("{said:?}")
    };
    assert!(reason.contains("is full"), "{reason}");
    let entries = bench.store.entries("solo", 0).await.expect("read");
    assert!(
        entries
            .windows(2)
            .all(|pair| pair[1].seq == pair[0].seq + 1),
        "a number is missing"
    );
    let mut health = recorder.health();
    let recording = health.wait_for(|health| *health == Health::Recording);
    recording.await.expect("the recorder runs");
}
