use std::path::Path;

use clusters::provider::{Environment, EnvironmentState};
use course::LabId;

use super::{PrepareError, mark, note, once};

/// Nothing answers behind its kubeconfig: whoever applies something fails.
fn unreachable(dir: &Path) -> Environment {
    Environment {
        id: "solo".parse().unwrap(),
        state: EnvironmentState::Running,
        dir: dir.to_owned(),
        admin_kubeconfig: dir.join("admin.kubeconfig"),
        trainee_kubeconfig: dir.join("trainee.kubeconfig"),
        api_socket: dir.join("api/socket"),
        shells: None,
        profile_name: "essai".to_owned(),
        created: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn lab() -> LabId {
    LabId::new("essai").unwrap()
}

#[tokio::test]
async fn a_lab_without_objects_needs_no_cluster() {
    let dir = tempfile::tempdir().unwrap();
    once(&unreachable(dir.path()), &lab(), &[], dir.path())
        .await
        .unwrap();
}

#[tokio::test]
async fn what_could_not_be_applied_is_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let environment = unreachable(dir.path());
    let files = ["queues.yaml".to_owned()];
    let tried = once(&environment, &lab(), &files, dir.path()).await;
    assert!(matches!(tried, Err(PrepareError::Apply(_))), "{tried:?}");
    assert!(!note(&environment, &lab()).exists());
}

#[tokio::test]
async fn objects_are_applied_once_for_each_environment() {
    let dir = tempfile::tempdir().unwrap();
    let environment = unreachable(dir.path());
    let files = ["queues.yaml".to_owned()];
    mark(&note(&environment, &lab())).unwrap();
    once(&environment, &lab(), &files, dir.path())
        .await
        .unwrap();
}
