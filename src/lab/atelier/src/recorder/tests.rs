//! The recorder against an API server that follows a script: lists, watches, 410, broken connections, definitions that come and go.

mod full_disk;
mod known;
mod refused;
mod scripted;
mod steady;

use super::{Health, Recorder, RecorderOptions, connection::Connection};
use scripted::{ApiServer, job, names};
use serde_json::json;
use std::time::Duration;
use store::Store;
use timeline::{Seen, Verb, What};
use tokio_util::sync::{CancellationToken, DropGuard};

struct Bench {
    server: ApiServer,
    store: Store,
    folder: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::open(&folder.path().join("a.db"))
            .await
            .expect("store");
        Self {
            server: ApiServer::new(),
            store,
            folder,
        }
    }

    async fn recorder(&self) -> (Recorder, DropGuard) {
        let cancel = CancellationToken::new();
        let connection = Connection::fixed(self.server.client());
        let options = RecorderOptions {
            store: self.store.clone(),
            environment: "solo".to_owned(),
            kubeconfig: self.folder.path().join("none"),
        };
        let recorder = Recorder::start_with(options, connection, cancel.clone())
            .await
            .expect("start");
        let mut health = recorder.health();
        let recording = health.wait_for(|health| *health == Health::Recording);
        let begun = tokio::time::timeout(Duration::from_secs(20), recording).await;
        begun.expect("in time").expect("the recorder runs");
        (recorder, cancel.drop_guard())
    }

    /// The record as lines, for kinds that tests are about.
    async fn record(&self) -> Vec<String> {
        let entries = self.store.entries("solo", 0).await.expect("read");
        entries
            .iter()
            .filter_map(|entry| told(&entry.what))
            .collect()
    }

    /// Waits until the record satisfies something.
    async fn until(&self, recorder: &Recorder, what: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut changed = recorder.changed();
        let waiting = async {
            loop {
                changed.borrow_and_update();
                let record = self.record().await;
                if what(&record) {
                    return record;
                }
                changed.changed().await.expect("the recorder runs");
            }
        };
        match tokio::time::timeout(Duration::from_secs(20), waiting).await {
            Ok(record) => record,
            Err(_) => panic!("the record is only {:#?}", self.record().await),
        }
    }
}

fn told(what: &What) -> Option<String> {
    match what {
        What::Object(object) if matches!(object.kind.as_str(), "Job" | "Workload") => {
            let verb = match object.verb {
                Verb::Added => "added",
                Verb::Modified => "modified",
                Verb::Deleted => "deleted",
            };
            let how = if object.seen == Seen::Listed {
                " (listed)"
            } else {
                ""
            };
            Some(format!(
                "{verb} {} {} {}{how}",
                object.kind, object.name, object.uid
            ))
        }
        What::Gap { kinds, .. } if kinds == &["Job"] => Some("gap".to_owned()),
        What::Lost { kinds, .. } if kinds == &["Job"] => Some("lost".to_owned()),
        What::Back { kinds } if kinds == &["Job"] => Some("back".to_owned()),
        _ => None,
    }
}

fn has(record: &[String], line: &str) -> bool {
    record.iter().any(|one| one == line)
}

#[tokio::test]
async fn lists_then_watches_and_drops_what_is_no_news() {
    let bench = Bench::new().await;
    bench.server.put("jobs", job("a", "u1", true));
    let (recorder, _guard) = bench.recorder().await;
    bench
        .until(&recorder, |record| has(record, "added Job a u1 (listed)"))
        .await;
    bench.server.put("jobs", job("b", "u2", true));
    bench.server.touch("jobs", "b");
    bench.server.put("jobs", job("b", "u2", false));
    bench.server.remove("jobs", "a");
    let record = bench
        .until(&recorder, |record| has(record, "deleted Job a u1"))
        .await;
    assert_eq!(
        record,
        [
            "added Job a u1 (listed)",
            "added Job b u2",
            "modified Job b u2",
            "deleted Job a u1"
        ]
    );
}

#[tokio::test]
async fn a_broken_watch_goes_on_where_it_was() {
    let bench = Bench::new().await;
    let (recorder, _guard) = bench.recorder().await;
    bench.server.put("jobs", job("a", "u1", true));
    bench.until(&recorder, |record| record.len() == 1).await;
    bench.server.down(true);
    bench.until(&recorder, |record| has(record, "lost")).await;
    bench.server.put("jobs", job("a", "u1", false));
    bench.server.put("jobs", job("b", "u2", true));
    bench.server.down(false);
    let record = bench
        .until(&recorder, |record| has(record, "added Job b u2"))
        .await;
    let lines: Vec<&str> = record
        .iter()
        .map(String::as_str)
        .filter(|line| !line.contains("(listed)"))
        .collect();
    assert_eq!(
        &lines[lines.len() - 4..],
        ["lost", "back", "modified Job a u1", "added Job b u2"]
    );
    assert!(!has(&record, "gap"), "{record:?}");
}

#[tokio::test]
async fn an_expired_watch_lists_and_tells_the_gap_and_the_difference() {
    let bench = Bench::new().await;
    let (recorder, _guard) = bench.recorder().await;
    bench.server.put("jobs", job("w", "u1", true));
    bench.server.put("jobs", job("x", "u2", true));
    bench.server.put("jobs", job("y", "u3", true));
    bench
        .until(&recorder, |record| names(record, "added") == 3)
        .await;
    bench.server.down(true);
    bench.until(&recorder, |record| has(record, "lost")).await;
    bench.server.remove("jobs", "w");
    bench.server.put("jobs", job("w", "u4", true));
    bench.server.remove("jobs", "x");
    bench.server.compact();
    bench.server.down(false);
    let record = bench
        .until(&recorder, |record| has(record, "added Job w u4 (listed)"))
        .await;
    let after: Vec<&str> = record
        .iter()
        .map(String::as_str)
        .skip_while(|line| *line != "gap")
        .filter(|line| *line != "back")
        .collect();
    assert_eq!(
        after,
        [
            "gap",
            "deleted Job x u2 (listed)",
            "deleted Job w u1 (listed)",
            "added Job w u4 (listed)"
        ]
    );
    let written = bench.store.entries("solo", 0).await.expect("read").len();
    let mut changed = recorder.changed();
    changed
        .wait_for(|seq| usize::try_from(*seq).is_ok_and(|seq| seq >= written))
        .await
        .expect("the recorder runs");
    let timeline = recorder.timeline();
    let lives = timeline
        .read()
        .attempts()
        .iter()
        .filter(|attempt| attempt.job.name == "w")
        .count();
    assert_eq!(lives, 2);
}

#[tokio::test]
async fn a_page_that_expires_in_the_middle_is_listed_again_from_the_start() {
    let bench = Bench::new().await;
    for number in 0..1200 {
        bench.server.put(
            "jobs",
            job(&format!("j{number}"), &format!("u{number}"), true),
        );
    }
    bench.server.expire_pages(2);
    let (recorder, _guard) = bench.recorder().await;
    let record = bench
        .until(&recorder, |record| names(record, "added") == 1200)
        .await;
    assert_eq!(record.len(), 1200, "no entry appears twice");
}

#[tokio::test]
async fn a_restart_goes_on_without_a_gap_while_the_server_remembers() {
    let bench = Bench::new().await;
    {
        let (recorder, _guard) = bench.recorder().await;
        bench.server.put("jobs", job("a", "u1", true));
        bench.until(&recorder, |record| record.len() == 1).await;
    }
    bench.server.put("jobs", job("a", "u1", false));
    let (recorder, _guard) = bench.recorder().await;
    let record = bench
        .until(&recorder, |record| has(record, "modified Job a u1"))
        .await;
    assert_eq!(
        record,
        ["added Job a u1", "lost", "back", "modified Job a u1"]
    );
    let seqs: Vec<u64> = bench
        .store
        .entries("solo", 0)
        .await
        .expect("read")
        .iter()
        .map(|entry| entry.seq)
        .collect();
    assert!(
        seqs.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{seqs:?}"
    );
}

#[tokio::test]
async fn a_restart_on_another_cluster_lists_everything() {
    let mut bench = Bench::new().await;
    {
        let (recorder, _guard) = bench.recorder().await;
        bench.server.put("jobs", job("a", "u1", true));
        bench.until(&recorder, |record| record.len() == 1).await;
    }
    bench.server = ApiServer::new();
    bench.server.put("jobs", job("a", "u9", true));
    let (recorder, _guard) = bench.recorder().await;
    let record = bench
        .until(&recorder, |record| has(record, "added Job a u9 (listed)"))
        .await;
    assert_eq!(
        record,
        [
            "added Job a u1",
            "gap",
            "deleted Job a u1 (listed)",
            "added Job a u9 (listed)"
        ]
    );
}

#[tokio::test]
async fn a_kind_is_watched_as_soon_as_its_definition_is_there_and_again_after_it_went() {
    let bench = Bench::new().await;
    let (recorder, _guard) = bench.recorder().await;
    bench.server.put("jobs", job("a", "u1", true));
    bench.until(&recorder, |record| record.len() == 1).await;
    let workload = |uid: &str| json!({"metadata": {"name": "job-a", "namespace": "equipe-vision", "uid": uid}, "spec": {}});
    for (round, uid) in ["w1", "w2"].into_iter().enumerate() {
        bench
            .server
            .define("workloads", "kueue.x-k8s.io", "v1beta2");
        bench.server.put("workloads", workload(uid));
        bench
            .until(&recorder, |record| {
                record
                    .iter()
                    .any(|line| line.contains(&format!("Workload job-a {uid}")))
            })
            .await;
        bench.server.undefine("workloads", "kueue.x-k8s.io");
        bench
            .until(&recorder, |record| {
                names(record, "deleted Workload") == round + 1
            })
            .await;
    }
}

#[tokio::test]
async fn answers_and_ticks_are_entries() {
    let bench = Bench::new().await;
    let (recorder, _guard) = bench.recorder().await;
    let question = course::QuestionId::new("gpus").expect("id");
    let seq = recorder
        .answer(question.clone(), json!(8))
        .await
        .expect("answer");
    recorder.tick().await.expect("tick");
    assert_eq!(
        recorder.timeline().read().answers(&question)[0].place.seq,
        seq
    );
    let entries = bench.store.entries_at("solo", &[seq]).await.expect("read");
    assert_eq!(
        entries[0].what,
        What::Answer {
            question,
            value: json!(8)
        }
    );
}
