mod fake;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use clusters::provider::{EnvironmentId, Phase, PhaseState};

use self::fake::Fake;
use super::home::Home;
use super::{Act, Environments, Is, local};

fn profiles() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../labs/profiles")
}

fn service(provider: &Arc<Fake>) -> Environments {
    Environments::new(
        provider.clone(),
        EnvironmentId::for_account("solo"),
        profiles(),
    )
}

fn ensure() -> Act {
    Act::Ensure {
        profile: "cassiopee-a100".to_owned(),
    }
}

#[tokio::test]
async fn an_environment_is_made_once_and_then_left_alone() {
    let provider = Arc::new(Fake::default());
    let environments = service(&provider);
    environments.carry_out(ensure()).await.unwrap();
    environments.carry_out(ensure()).await.unwrap();
    assert_eq!(provider.acts(), ["create"]);
    assert!(environments.running().is_some());
    assert_eq!(
        environments.watch().borrow().profile.as_deref(),
        Some("cassiopee-a100")
    );
}

#[tokio::test]
async fn a_stopped_environment_is_started_again() {
    let provider = Arc::new(Fake::default());
    let environments = service(&provider);
    environments.carry_out(ensure()).await.unwrap();
    environments.carry_out(Act::Stop).await.unwrap();
    assert_eq!(environments.watch().borrow().is, Is::Stopped);
    assert!(environments.running().is_none());
    environments.carry_out(ensure()).await.unwrap();
    assert_eq!(provider.acts(), ["create", "stop", "start"]);
}

#[tokio::test]
async fn a_profile_with_a_mistake_costs_nothing() {
    let provider = Arc::new(Fake::default());
    let environments = service(&provider);
    environments.carry_out(ensure()).await.unwrap();
    let error = environments
        .carry_out(Act::Reset {
            profile: "nulle-part".to_owned(),
        })
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "profile nulle-part is not there; known are cassiopee-a100, cassiopee-a100-v100, cassiopee-conteneurs"
    );
    assert_eq!(provider.acts(), ["create"]);
    let view = environments.watch().borrow().clone();
    assert_eq!(view.is, Is::Running);
    assert_eq!(view.failure, Some(error.to_string()));
}

#[tokio::test]
async fn a_deletion_ends_a_creation_under_way() {
    let provider = Arc::new(Fake::slow());
    let environments = service(&provider);
    environments.begin(ensure());
    provider.creation_began().await;
    environments.carry_out(Act::Delete).await.unwrap();
    assert_eq!(provider.acts(), ["create", "cancelled", "delete"]);
    assert_eq!(environments.watch().borrow().is, Is::Absent);
}

#[tokio::test]
async fn what_an_earlier_run_left_is_taken_over() {
    let provider = Arc::new(Fake::default());
    service(&provider).carry_out(ensure()).await.unwrap();
    let later = service(&provider);
    later.adopt().await;
    assert_eq!(later.watch().borrow().is, Is::Running);
}

#[tokio::test]
async fn phases_reach_the_view() {
    let provider = Arc::new(Fake::default());
    let environments = service(&provider);
    let mut view = environments.watch();
    environments.carry_out(ensure()).await.unwrap();
    let whole = view
        .wait_for(|view| view.phases.iter().any(|known| known.ended.is_some()))
        .await
        .unwrap();
    let known = &whole.phases[0];
    assert_eq!(
        (known.phase, &known.state),
        (Phase::Directory, &PhaseState::Done)
    );
}

fn home_in(dir: &Path) -> Home {
    Home::new(dir, &EnvironmentId::for_account("solo"), "d1-am")
}

#[test]
fn a_home_is_made_from_the_labs_files_once() {
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("files");
    std::fs::create_dir_all(files.join("sous")).unwrap();
    std::fs::write(files.join("sous/job.yaml"), "un").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", files.join("lien")).unwrap();
    let home = home_in(dir.path());
    home.prepare(Some(&files), Some(("kueue", "/opt/chart")))
        .unwrap();
    let copy = home.dir().join("sous/job.yaml");
    std::fs::write(&copy, "change").unwrap();
    home.prepare(Some(&files), Some(("kueue", "/opt/chart")))
        .unwrap();
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "change");
    assert!(
        std::fs::symlink_metadata(home.dir().join("lien")).is_err(),
        "links are not copied"
    );
    assert_eq!(
        std::fs::read_link(home.dir().join("kueue")).unwrap(),
        Path::new("/opt/chart")
    );
}

#[test]
fn a_kubeconfig_comes_back_when_deleted_and_is_replaced_when_the_environment_is_another() {
    let dir = tempfile::tempdir().unwrap();
    let (home, issued) = (home_in(dir.path()), dir.path().join("trainee.kubeconfig"));
    let own = home.kube().join("config");
    let read = || std::fs::read_to_string(&own).unwrap();
    std::fs::write(&issued, "un").unwrap();
    home.bring_kubeconfig(&issued, None).unwrap();
    std::fs::write(&own, "un, namespace choisi").unwrap();
    home.bring_kubeconfig(&issued, None).unwrap();
    assert_eq!(read(), "un, namespace choisi");
    std::fs::remove_file(&own).unwrap();
    home.bring_kubeconfig(&issued, None).unwrap();
    assert_eq!(read(), "un");
    std::fs::write(&issued, "deux").unwrap();
    home.bring_kubeconfig(&issued, None).unwrap();
    assert_eq!(read(), "deux");
}

#[test]
fn a_kubeconfig_names_the_api_server_as_the_shell_sees_it() {
    let dir = tempfile::tempdir().unwrap();
    let (home, issued) = (home_in(dir.path()), dir.path().join("trainee.kubeconfig"));
    let text = r#"{"clusters": [{"cluster": {"server": "https://127.0.0.1:6443"}}], "users": []}"#;
    std::fs::write(&issued, text).unwrap();
    let server = "https://ak-1-solo-control-plane:6443";
    home.bring_kubeconfig(&issued, Some(server)).unwrap();
    let own = std::fs::read(home.kube().join("config")).unwrap();
    let own: serde_json::Value = serde_json::from_slice(&own).unwrap();
    assert_eq!(own["clusters"][0]["cluster"]["server"], server);
    assert_eq!(
        own["clusters"][0]["cluster"]["tls-server-name"],
        "kubernetes"
    );
}

/// Only root may give files away, and only root must: other users' shells run as themselves.
#[test]
fn a_home_is_given_whole_and_nothing_that_its_links_point_at() {
    let dir = tempfile::tempdir().unwrap();
    let (home, issued) = (home_in(dir.path()), dir.path().join("issued"));
    std::fs::write(&issued, "un").unwrap();
    home.prepare(None, None).unwrap();
    home.bring_kubeconfig(&issued, None).unwrap();
    std::fs::create_dir(home.dir().join("d")).unwrap();
    std::fs::write(home.dir().join("d/f"), "f").unwrap();
    std::os::unix::fs::symlink(&issued, home.dir().join("d/l")).unwrap();
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let own = (user.as_raw(), group.as_raw());
    let other = if user.is_root() { (1000, 1000) } else { own };
    home.give(other).unwrap();
    let owner = |path: &Path| {
        let meta = std::fs::symlink_metadata(path).unwrap();
        (meta.uid(), meta.gid())
    };
    let (files, kube) = (home.dir(), home.kube());
    for path in [
        &files,
        &files.join("d/f"),
        &files.join("d/l"),
        &kube,
        &kube.join("config"),
    ] {
        assert_eq!(owner(path), other, "{}", path.display());
    }
    assert_eq!(owner(&issued), own);

    // What came anew with another environment is given as well.
    std::fs::write(&issued, "deux").unwrap();
    home.bring_kubeconfig(&issued, None).unwrap();
    home.give(other).unwrap();
    assert_eq!(owner(&kube.join("config")), other);
}

#[test]
fn a_link_among_the_trainees_files_is_replaced_and_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (home, issued, victim) = (
        home_in(dir.path()),
        dir.path().join("issued"),
        dir.path().join("victim"),
    );
    std::fs::write(&issued, "un").unwrap();
    std::fs::write(&victim, "intact").unwrap();
    std::fs::create_dir_all(home.kube()).unwrap();
    for name in ["config", "config.new"] {
        std::os::unix::fs::symlink(&victim, home.kube().join(name)).unwrap();
    }
    home.bring_kubeconfig(&issued, None).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "intact");
    assert_eq!(
        std::fs::read_to_string(home.kube().join("config")).unwrap(),
        "un"
    );
}

#[test]
fn the_kubeconfig_for_this_machine_is_the_trainees_at_the_servers_address() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, user: &str, server: &str| {
        let path = dir.path().join(name);
        let text = serde_json::json!({"users": [{"name": user}], "clusters": [{"cluster": {"server": server}}]});
        std::fs::write(&path, text.to_string()).unwrap();
        path
    };
    let trainee = write("trainee", "trainee", "https://127.0.0.1:6443");
    let admin = write("admin", "admin", "https://127.0.0.1:40001");
    let text = local::kubeconfig_for_this_machine(&trainee, &admin).unwrap();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["users"][0]["name"], "trainee");
    assert_eq!(
        read["clusters"][0]["cluster"]["server"],
        "https://127.0.0.1:40001"
    );
}
