//! Platform case 064: an API server that is there and answers with errors.

use super::scripted::{job, names};
use super::{Bench, has};

#[tokio::test]
async fn a_server_that_refuses_for_a_while_is_asked_again() {
    // First the list is refused, more than once, then the watch.
    for (code, what) in [(429, "too busy"), (500, "broken"), (410, "forgetful")] {
        let bench = Bench::new().await;
        bench.server.put("jobs", job("a", "u1", true));
        bench.server.refuse(code, 3);
        let (recorder, _guard) = bench.recorder().await;
        bench
            .until(&recorder, |record| has(record, "added Job a u1 (listed)"))
            .await;
        bench.server.down(true);
        bench.until(&recorder, |record| has(record, "lost")).await;
        bench.server.put("jobs", job("b", "u2", true));
        bench.server.refuse(code, 3);
        bench.server.down(false);
        let added = |record: &[String]| names(record, "added Job b u2");
        bench.until(&recorder, |record| added(record) == 1).await;
        bench.server.put("jobs", job("c", "u3", true));
        let record = bench
            .until(&recorder, |record| names(record, "added Job c u3") == 1)
            .await;
        assert_eq!(names(&record, "added"), 3, "{what}: {record:#?}");
        assert_eq!(
            has(&record, "gap"),
            code == 410,
            "only a server that forgot leaves a gap; {what}: {record:#?}"
        );
    }
}
