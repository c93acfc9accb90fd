use crate::{at, entry};
use course::QuestionId;
use serde_json::json;
use store::Store;
use timeline::{Entry, What};

#[tokio::test]
async fn entries_come_back_as_they_were_written() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("data/atelier.db");
    let store = Store::open(&path).await.expect("open");
    let all = vec![
        entry(1, "chiffres-1"),
        Entry {
            seq: 2,
            at: at(2),
            what: What::Gap {
                kinds: vec!["Job".to_owned()],
                from: at(1),
                to: at(2),
            },
        },
        Entry {
            seq: 3,
            at: at(3),
            what: What::Answer {
                question: QuestionId::new("gpus").expect("id"),
                value: json!(8),
            },
        },
        Entry {
            seq: 4,
            at: at(4),
            what: What::Tick,
        },
    ];
    store.append("solo", &all[..2]).await.expect("append");
    store.append("solo", &all[2..]).await.expect("append");
    store
        .append("other", &[entry(1, "poete")])
        .await
        .expect("append");
    assert_eq!(store.entries("solo", 0).await.expect("read"), all);
    assert_eq!(store.entries("solo", 3).await.expect("read"), all[3..]);
    assert_eq!(
        store.entries_at("solo", &[3, 99, 1]).await.expect("read"),
        [all[2].clone(), all[0].clone()]
    );
    assert_eq!(store.recorded().await.expect("list"), ["other", "solo"]);

    store.close().await;
    let again = Store::open(&path).await.expect("open again");
    assert_eq!(again.entries("solo", 0).await.expect("read"), all);
    again.forget("solo").await.expect("forget");
    assert_eq!(again.recorded().await.expect("list"), ["other"]);
}

#[tokio::test]
async fn a_batch_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(&folder.path().join("a.db"))
        .await
        .expect("open");
    store
        .append("solo", &[entry(1, "a"), entry(2, "b")])
        .await
        .expect("append");
    let error = store
        .append("solo", &[entry(3, "c"), entry(2, "again")])
        .await
        .expect_err("a known number");
    assert!(
        error.to_string().contains("record entries in the database"),
        "{error}"
    );
    assert_eq!(store.entries("solo", 0).await.expect("read").len(), 2);
}

#[tokio::test]
async fn readers_of_other_processes_see_what_is_committed_while_one_writes() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.db");
    let writer = Store::open(&path).await.expect("open");
    let readers = [
        Store::open_read_only(&path).await.expect("read"),
        Store::open_read_only(&path).await.expect("read"),
    ];
    for seq in 1..=40 {
        writer
            .append("solo", &[entry(seq, "a")])
            .await
            .expect("append");
        for reader in &readers {
            let found = reader.entries("solo", 0).await.expect("read");
            assert_eq!(found.len(), usize::try_from(seq).expect("small"));
        }
    }
    let refused = readers[0]
        .append("solo", &[entry(41, "a")])
        .await
        .expect_err("a reader");
    assert!(
        refused.to_string().contains("can only be read"),
        "{refused}"
    );
}

#[tokio::test]
async fn two_writers_wait_for_each_other() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.db");
    let first = Store::open(&path).await.expect("open");
    let second = Store::open(&path).await.expect("open");
    let write = |store: Store, environment: &'static str| async move {
        for seq in 1..=50 {
            store
                .append(environment, &[entry(seq, "a")])
                .await
                .expect("append");
        }
    };
    tokio::join!(write(first.clone(), "one"), write(second, "two"));
    assert_eq!(first.entries("one", 0).await.expect("read").len(), 50);
    assert_eq!(first.entries("two", 0).await.expect("read").len(), 50);
}

/// A recorder that is stopped in the middle of a write must not leave its transaction open for the next user of the connection.
#[tokio::test]
async fn a_write_that_is_broken_off_is_undone() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(&folder.path().join("a.db"))
        .await
        .expect("open");
    let entries: Vec<_> = (1..=400).map(|seq| entry(seq, "a")).collect();
    for polls in 1..40 {
        let mut write = Box::pin(store.append("solo", &entries));
        for _ in 0..polls {
            let once = std::future::poll_fn(|context| {
                std::task::Poll::Ready(Future::poll(write.as_mut(), context).is_ready())
            });
            if once.await {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(write);
        store
            .forget("solo")
            .await
            .expect("the connection is usable");
    }
    store.append("solo", &entries).await.expect("append");
    assert_eq!(store.entries("solo", 0).await.expect("read").len(), 400);
}
