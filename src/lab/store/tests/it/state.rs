use crate::at;
use course::{CriterionId, LabId, Language, StepId};
use store::Store;
use timeline::{State, Verdict};

#[tokio::test]
async fn steps_and_language_are_remembered() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.db");
    let store = Store::open(&path).await.expect("open");
    let (lab, other) = (
        LabId::new("d1-am").expect("id"),
        LabId::new("d1-pm").expect("id"),
    );
    let step = |name: &str| StepId::new(name).expect("id");
    assert_eq!(store.step("solo", &lab).await.expect("read"), None);
    assert_eq!(store.latest("solo").await.expect("read"), None);
    store
        .set_step("solo", &lab, &step("decouvrir"), at(1))
        .await
        .expect("write");
    store
        .set_step("solo", &other, &step("equipes"), at(2))
        .await
        .expect("write");
    store
        .set_step("solo", &lab, &step("installer"), at(3))
        .await
        .expect("write");
    assert_eq!(
        store.step("solo", &lab).await.expect("read"),
        Some(step("installer"))
    );
    assert_eq!(store.step("anne", &lab).await.expect("read"), None);
    assert_eq!(
        store.latest("solo").await.expect("read"),
        Some((lab, step("installer")))
    );
    assert_eq!(store.language("solo").await.expect("read"), None);
    store
        .set_language("solo", Language::En)
        .await
        .expect("write");
    store
        .set_language("solo", Language::Fr)
        .await
        .expect("write");
    assert_eq!(
        store.language("solo").await.expect("read"),
        Some(Language::Fr)
    );
}

#[tokio::test]
async fn verdicts_are_logged_with_their_evidence() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(&folder.path().join("a.db"))
        .await
        .expect("open");
    let verdict = |state: State, evidence: Vec<u64>| Verdict {
        criterion: CriterionId::new("attendre").expect("id"),
        state,
        reason: "holding",
        say: None,
        args: course::Args::new(),
        points: 2,
        earned: 0,
        evidence,
    };
    store
        .log_verdicts(
            "solo",
            "d1-am",
            (4, at(4)),
            &[verdict(State::Waiting, vec![3])],
        )
        .await
        .expect("log");
    store
        .log_verdicts(
            "solo",
            "d1-am",
            (9, at(9)),
            &[verdict(State::Passed, vec![3, 8])],
        )
        .await
        .expect("log");
    let log = store.verdict_log("solo", "d1-am").await.expect("read");
    let told: Vec<(&str, u64)> = log
        .iter()
        .map(|logged| (logged.state.as_str(), logged.seq))
        .collect();
    assert_eq!(told, [("waiting", 4), ("passed", 9)]);
    assert_eq!(log[1].verdict["evidence"], serde_json::json!([3, 8]));
    assert!(
        store
            .verdict_log("solo", "d1-pm")
            .await
            .expect("read")
            .is_empty()
    );
}
