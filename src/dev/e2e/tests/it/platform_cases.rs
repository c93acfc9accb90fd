//! What users of other platforms met, on real environments: several made at once, one name taken twice (cases 055, 062),
//! a server on another port (058), a simulator that dies (065), the keys of an environment that is gone (067).

use std::{fs, net::TcpListener};

use exec::process::{Signal, signal_process};
use testkit::{Platform, Programs};

use crate::{
    commands::{create, delete, ok, program_of},
    environments::listed,
    machine,
    patience::until,
};

/// What the person at this machine had before.
const OWN: &str = "apiVersion: v1
kind: Config
current-context: autre
clusters: [{name: autre, cluster: {server: 'https://192.0.2.1:6443'}}]
contexts: [{name: autre, context: {cluster: autre, user: autre}}]
users: [{name: autre, user: {}}]
";

#[tokio::test(flavor = "multi_thread")]
async fn environments_made_at_once_do_not_meet() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _places = machine::places(machine::ALL).await;
    let platform = Platform::new(&programs);
    let own = platform.dir().join("own-kubeconfig");
    fs::write(&own, OWN).expect("a file");

    let create = |id| {
        platform
            .atelier(["env", "create", id])
            .env("KUBECONFIG", &own)
    };
    let (first, second) = (create("meme"), create("meme"));
    let other = create("autre");
    let (first, second, other) = tokio::join!(first.output(), second.output(), ok(other));
    assert!(!other.is_empty(), "nothing was said");
    let outputs = [first.expect("it runs"), second.expect("it runs")];
    let (made, refused): (Vec<_>, Vec<_>) =
        outputs.iter().partition(|output| output.code == Some(0));
    assert_eq!((made.len(), refused.len()), (1, 1), "{outputs:?}");
    let said = &refused[0].stderr;
    assert!(said.contains("meme exists already"), "{said}");

    assert_eq!(listed(&platform).await, "autre running, meme running");
    assert_ne!(server(&platform, "meme"), server(&platform, "autre"));
    unauthorized(&platform, "meme", &server(&platform, "autre")).await;
    unauthorized(&platform, "autre", &server(&platform, "meme")).await;

    let delete = |id| {
        platform
            .atelier(["env", "delete", id])
            .env("KUBECONFIG", &own)
    };
    tokio::join!(ok(delete("meme")), ok(delete("autre")));
    assert_eq!(platform.processes(), Vec::<u32>::new());
    assert_eq!(fs::read_to_string(&own).expect("it is there"), OWN);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_survives_its_simulator_and_its_port_but_not_its_deletion() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _place = machine::place().await;
    let platform = Platform::new(&programs);
    create(&platform, "vieux").await;
    let job = [
        "create",
        "job",
        "long",
        "-n",
        "equipe-vision",
        "--image=busybox",
        "--",
        "sleep",
        "3600",
    ];
    ok(platform.kubectl("vieux", job)).await;
    pod_is_ready(&platform).await;

    the_simulator_is_replaced(&platform).await;
    the_port_is_another(&platform).await;

    let before = ["admin.kubeconfig", "trainee.kubeconfig"].map(|name| {
        let kept = platform.dir().join(name);
        fs::copy(platform.environment("vieux").join(name), &kept).expect("it is there");
        kept
    });
    delete(&platform, "vieux").await;
    create(&platform, "vieux").await;
    let jobs = ["get", "jobs", "-A", "-o", "name"];
    assert_eq!(
        ok(platform.kubectl("vieux", jobs)).await,
        "",
        "the new environment inherits from the old one"
    );
    let address = server(&platform, "vieux");
    for kept in before {
        let environment = platform.environment("vieux");
        fs::copy(&kept, environment.join("admin.kubeconfig")).expect("it can be replaced");
        unauthorized(&platform, "vieux", &address).await;
    }
    delete(&platform, "vieux").await;
    assert_eq!(platform.processes(), Vec::<u32>::new());
}

/// Case 065: killed, it is started again, plays what is new, and what ran before runs on.
async fn the_simulator_is_replaced(platform: &Platform) {
    let simulator = || {
        let mut processes = platform.processes().into_iter();
        processes.find(|pid| program_of(*pid).ends_with("kwok"))
    };
    let first = simulator().expect("kwok runs");
    signal_process(first, Signal::KILL);
    until("another simulator runs", async || {
        simulator().is_some_and(|pid| pid != first)
    })
    .await;
    let job = [
        "create",
        "job",
        "apres",
        "-n",
        "equipe-vision",
        "--image=busybox",
        "--",
        "sleep",
        "1",
    ];
    ok(platform.kubectl("vieux", job)).await;
    let done = [
        "wait",
        "job/apres",
        "-n",
        "equipe-vision",
        "--for=condition=complete",
        "--timeout=120s",
    ];
    ok(platform.kubectl("vieux", done)).await;
    pod_is_ready(platform).await;
}

/// Case 058: the former port was taken meanwhile; the trainee's kubeconfig does not change for that.
async fn the_port_is_another(platform: &Platform) {
    let trainee = platform.environment("vieux").join("trainee.kubeconfig");
    let (issued, before) = (
        fs::read(&trainee).expect("it is there"),
        server(platform, "vieux"),
    );
    ok(platform.atelier(["env", "stop", "vieux"])).await;
    let address = before.trim_start_matches("https://").to_owned();
    // Somebody else may have been quicker; then it is taken all the same.
    let _taken = TcpListener::bind(&address).ok();
    ok(platform.atelier(["env", "start", "vieux"])).await;
    assert_ne!(server(platform, "vieux"), before, "two have one port");
    assert_eq!(fs::read(&trainee).expect("it is there"), issued);
    pod_is_ready(platform).await;
    let nodes = [
        "wait",
        "nodes",
        "--all",
        "--for=condition=Ready",
        "--timeout=120s",
    ];
    ok(platform.kubectl("vieux", nodes)).await;
}

async fn pod_is_ready(platform: &Platform) {
    let ready = [
        "wait",
        "pods",
        "-n",
        "equipe-vision",
        "-l",
        "job-name=long",
        "--for=condition=Ready",
        "--timeout=120s",
    ];
    let wait = platform.kubectl("vieux", ready);
    // `kubectl wait` refuses to wait for a pod that is not there yet.
    until("the long Job's pod is Ready", async || {
        wait.run().await.is_ok()
    })
    .await;
}

/// The one server that an environment's kubeconfig names.
fn server(platform: &Platform, id: &str) -> String {
    let path = platform.environment(id).join("admin.kubeconfig");
    let text = fs::read_to_string(path).expect("it is there");
    let servers: Vec<&str> = text
        .split(['"', '\'', ' ', '\n', ','])
        .filter(|word| word.starts_with("https://"))
        .collect();
    let [server] = servers[..] else {
        panic!("not one server: {servers:?}")
    };
    server.to_owned()
}

/// What stands in `id`'s kubeconfig opens nothing at that server.
async fn unauthorized(platform: &Platform, id: &str, server: &str) {
    let arguments = [
        "--server",
        server,
        "--insecure-skip-tls-verify",
        "get",
        "nodes",
    ];
    let output = platform.kubectl(id, arguments).output().await;
    let output = output.expect("it runs");
    assert!(
        output.code != Some(0) && output.stderr.contains("You must be logged in"),
        "{output:?}"
    );
}
