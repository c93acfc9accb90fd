//! Environments that are kind clusters, on a real engine. Only where `ATELIER_KIND=1` says that one may be used (CI does, after
//! `.ci/docker` and `cargo xtask images node`): a cluster costs a minute and 700 MB.

use std::path::PathBuf;
use std::time::Duration;

use clusters::kind::Settings;
use clusters::local::{LocalOptions, LocalProvider};
use clusters::provider::{EnvironmentState, Phase, Progress, Provider, ProviderError};
use exec::Cmd;
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::machine::{Machine, id, spec, until};

/// A provider whose environments go with it, also where a test fails.
struct Kind(LocalProvider);

impl std::ops::Deref for Kind {
    type Target = LocalProvider;

    fn deref(&self) -> &LocalProvider {
        &self.0
    }
}

impl Drop for Kind {
    fn drop(&mut self) {
        let provider = self.0.clone();
        let deleting = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                for environment in provider.list().await.unwrap_or_default() {
                    if let Err(error) = provider.delete(environment.id).await {
                        eprintln!("left behind: {error}");
                    }
                }
            });
        });
        let _ = deleting.join();
    }
}

fn provider(machine: &Machine, image: Option<&str>) -> Kind {
    Kind(LocalProvider::new(options(machine, image)))
}

/// Names of containers show the environment's, and another run may go on beside this one.
fn own(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

fn options(machine: &Machine, image: Option<&str>) -> LocalOptions {
    let home = std::env::var_os("HOME")
        .map(PathBuf::from)
        .unwrap_or_default();
    let images = home.join(".cache/atelier-kueue/images");
    let settings = Settings::usual(machine.tools.kind.clone(), &images, image);
    machine.options.clone().with_kind(settings)
}

async fn docker(args: &[&str]) -> String {
    let cmd = Cmd::new("docker")
        .args(args)
        .deadline(Duration::from_secs(60));
    cmd.run().await.unwrap().stdout.trim().to_owned()
}

/// Containers, volumes and networks of this test's environments: their names hold the environment's.
async fn held(id: &str) -> Vec<String> {
    let mut found = Vec::new();
    for what in [
        &["ps", "--all", "--format", "{{.Names}}"][..],
        &["network", "ls", "--format", "{{.Name}}"],
    ] {
        let names = docker(what).await;
        let ours = names
            .lines()
            .filter(|name| name.contains(&format!("-{id}")));
        found.extend(ours.map(str::to_owned));
    }
    found
}

fn users_kubeconfig() -> Option<Vec<u8>> {
    let home = std::env::var_os("HOME").map(PathBuf::from)?;
    std::fs::read(home.join(".kube/config")).ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_environment_lives_and_leaves_nothing() {
    let Some(machine) = Machine::new().await.filter(|_| testkit::kind_clusters()) else {
        return;
    };
    let name = own("kindlife");
    let before = users_kubeconfig();
    let provider = provider(&machine, None);
    let events = provider.subscribe(id(&name));
    let environment = machine.create(&provider, &name).await.unwrap();
    assert_eq!(environment.state, EnvironmentState::Running);
    let seen: Vec<Progress> = events
        .take_while(|event| {
            std::future::ready(*event != Progress::State(EnvironmentState::Running))
        })
        .collect()
        .await;
    for phase in Phase::of_start(&[Phase::Containers]) {
        let told = seen
            .iter()
            .any(|event| matches!(event, Progress::Phase(event) if event.phase == phase));
        assert!(told, "{phase} was not reported");
    }

    let admin = environment.admin_kubeconfig.clone();
    let kubectl = async |args: &[&str]| machine.kubectl(&admin, args).await.stdout;
    let nodes = kubectl(&["get", "nodes", "--no-headers"]).await;
    for node in [
        "plan-de-controle",
        "plateforme",
        "cpu-1",
        "a100-1",
        "a100-2",
    ] {
        assert!(nodes.contains(node), "{node} is not among {nodes}");
    }
    runs_a_real_pod(&machine, &admin).await;
    trainee_is_bounded(&machine, &environment.trainee_kubeconfig, &admin).await;

    // A second one of the same name is refused, and the first goes on.
    let again = machine.create(&provider, &name).await.unwrap_err();
    assert!(matches!(again, ProviderError::Exists(_)), "{again}");

    // A node's container that ends comes back.
    let worker = held(&name)
        .await
        .into_iter()
        .find(|name| name.ends_with("-worker"))
        .unwrap();
    docker(&["kill", &worker]).await;
    until("the killed node runs again", async || {
        docker(&["inspect", "--format", "{{.State.Running}}", &worker]).await == "true"
    })
    .await;

    // Stopped and started, it is the same cluster.
    kubectl(&["create", "namespace", "souvenir"]).await;
    provider.stop(id(&name)).await.unwrap();
    assert_eq!(
        docker(&["inspect", "--format", "{{.State.Running}}", &worker]).await,
        "false"
    );
    let started = provider
        .start(id(&name), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(started.state, EnvironmentState::Running);
    assert!(
        kubectl(&["get", "namespace", "souvenir"])
            .await
            .contains("souvenir")
    );
    runs_a_real_pod(&machine, &admin).await;

    provider.delete(id(&name)).await.unwrap();
    assert_eq!(held(&name).await, Vec::<String>::new());
    assert!(!machine.folder(&name).exists());
    assert_eq!(
        users_kubeconfig(),
        before,
        "the user's own kubeconfig must not be touched"
    );
}

/// A pod on the platform's node: a real container with its own output, which no simulation could print.
async fn runs_a_real_pod(machine: &Machine, admin: &std::path::Path) {
    let kubectl = async |args: &[&str]| machine.kubectl(admin, args).await.stdout;
    let image = [
        "get",
        "-n",
        "kube-system",
        "daemonset/kube-proxy",
        "-o",
        "jsonpath={.spec.template.spec.containers[0].image}",
    ];
    let image = kubectl(&image).await;
    let overrides = r#"{"spec":{"nodeSelector":{"atelier.kueue/node":"plateforme"},"tolerations":[{"operator":"Exists"}]}}"#;
    kubectl(&["delete", "pod", "essai", "--ignore-not-found"]).await;
    let run = [
        "run",
        "essai",
        "--restart=Never",
        "--overrides",
        overrides,
        "--image",
        &image,
        "--command",
        "--",
        "kube-proxy",
        "--version",
    ];
    let made = machine.kubectl(admin, &run).await;
    assert!(made.stderr.is_empty(), "{}", made.stderr);
    until("the pod ends well", async || {
        kubectl(&["get", "pod", "essai", "-o", "jsonpath={.status.phase}"]).await == "Succeeded"
    })
    .await;
    assert_eq!(
        kubectl(&["logs", "essai"]).await.trim(),
        "Kubernetes v1.37.2"
    );
}

/// The trainee's kubeconfig names the sandbox's address; with this machine's it has the enumerated role and no more.
async fn trainee_is_bounded(machine: &Machine, trainee: &std::path::Path, admin: &std::path::Path) {
    let read = |path: &std::path::Path| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let server = read(admin)["clusters"][0]["cluster"]["server"].clone();
    let mut own = read(trainee);
    own["clusters"][0]["cluster"]["server"] = server;
    let path = machine.data.path().join("trainee-here.kubeconfig");
    std::fs::write(&path, own.to_string()).unwrap();
    let can = async |args: &[&str]| {
        let args: Vec<&str> = ["auth", "can-i"].iter().chain(args).copied().collect();
        machine.kubectl(&path, &args).await.stdout.trim() == "yes"
    };
    assert!(can(&["create", "jobs", "-n", "equipe-vision"]).await);
    assert!(!can(&["create", "certificatesigningrequests"]).await);
    let kubectl = async |args: &[&str]| machine.kubectl(&path, args).await;
    // The token with which nodes join is the same in every cluster of kind.
    let secrets = kubectl(&["get", "secrets", "-n", "kube-system", "-o", "name"]).await;
    assert_eq!((secrets.stdout.as_str(), secrets.code), ("", Some(0)));
    let config = kubectl(&["create", "configmap", "intrus", "-n", "kube-system"]).await;
    assert!(
        config.stderr.contains("belongs to the platform"),
        "{}",
        config.stderr
    );
    for (way_out, refusal) in [
        (r#"{"hostNetwork": true}"#, "hostNetwork"),
        (
            r#"{"volumes": [{"name": "hote", "hostPath": {"path": "/"}}]}"#,
            "hostPath",
        ),
        (
            r#"{"containers": [{"name": "intrus", "image": "i", "securityContext": {"privileged": true}}]}"#,
            "privileged",
        ),
        (
            r#"{"containers": [{"name": "intrus", "image": "i", "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]}"#,
            "capabilities",
        ),
    ] {
        let overrides = format!(r#"{{"spec": {way_out}}}"#);
        let run = [
            "run",
            "intrus",
            "-n",
            "equipe-vision",
            "--image",
            "i",
            "--overrides",
            &overrides,
        ];
        let made = kubectl(&run).await;
        assert!(
            made.stderr.contains(refusal),
            "{way_out}: {}{}",
            made.stdout,
            made.stderr
        );
    }
}

#[tokio::test]
async fn a_missing_image_or_engine_is_told_and_leaves_nothing() {
    let Some(machine) = Machine::new().await.filter(|_| testkit::kind_clusters()) else {
        return;
    };
    let name = own("kindimage");
    let without_image = provider(&machine, Some("docker.io/atelier-kueue/nowhere:dev"));
    let error = machine
        .create(&without_image, &name)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("nowhere:dev is not on this machine"),
        "{error}"
    );
    let mut options = options(&machine, None);
    if let Some(kind) = &mut options.kind {
        kind.engine = "/nowhere/docker".into();
    }
    let without_engine = Kind(LocalProvider::new(options));
    let error = machine
        .create(&without_engine, &name)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("/nowhere/docker"), "{error}");
    assert_eq!(held(&name).await, Vec::<String>::new());
    assert!(!machine.folder(&name).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_creation_leaves_nothing() {
    let Some(machine) = Machine::new().await.filter(|_| testkit::kind_clusters()) else {
        return;
    };
    let name = own("kindstop");
    let provider = provider(&machine, None);
    let cancel = CancellationToken::new();
    let begun = async {
        until("containers appear", async || held(&name).await.len() > 1).await;
        cancel.cancel();
    };
    let (made, ()) = tokio::join!(provider.create(spec(&name), cancel.clone()), begun);
    assert!(
        matches!(made, Err(ProviderError::Cancelled { .. })),
        "{made:?}"
    );
    assert_eq!(held(&name).await, Vec::<String>::new());
}
