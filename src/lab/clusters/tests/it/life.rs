use std::os::unix::fs::PermissionsExt;

use clusters::provider::{Environment, EnvironmentState, Phase, PhaseState, Progress, Provider};
use exec::{Bind, Sandbox};
use futures::StreamExt;

use crate::machine::{Machine, id, until};

#[tokio::test]
async fn an_environment_lives_from_creation_to_deletion() {
    let Some(machine) = Machine::new().await else {
        return;
    };
    let provider = machine.provider();
    let events = provider.subscribe(id("anne"));
    let environment = machine.create(&provider, "anne").await.unwrap();

    assert_eq!(environment.state, EnvironmentState::Running);
    let done: Vec<Phase> = events
        .take_while(|event| {
            std::future::ready(*event != Progress::State(EnvironmentState::Running))
        })
        .filter_map(|event| std::future::ready(finished(&event)))
        .collect()
        .await;
    for phase in Phase::of_start(&done) {
        assert!(done.contains(&phase), "{phase} was not reported: {done:?}");
    }
    assert_eq!(
        machine
            .folder("anne")
            .metadata()
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );

    serves_its_trainee(&machine, &environment).await;
    let admin = &environment.admin_kubeconfig;
    // A kubeconfig that was deleted under the platform is written again.
    std::fs::remove_file(admin).unwrap();
    std::fs::remove_file(&environment.trainee_kubeconfig).unwrap();
    provider.get(id("anne")).await.unwrap();
    assert!(admin.exists() && environment.trainee_kubeconfig.exists());

    // Stopped and started again, what was in it is still there.
    provider.stop(id("anne")).await.unwrap();
    assert!(machine.processes().is_empty());
    assert_eq!(
        provider.get(id("anne")).await.unwrap().state,
        EnvironmentState::Stopped
    );
    provider
        .start(id("anne"), Default::default())
        .await
        .unwrap();
    assert!(
        machine
            .kubectl(admin, &["get", "job", "court"])
            .await
            .stdout
            .contains("court")
    );

    provider.delete(id("anne")).await.unwrap();
    assert!(machine.processes().is_empty() && !machine.folder("anne").exists());
    assert!(provider.list().await.unwrap().is_empty());
}

/// Nodes, a job that the simulator plays, and nothing for strangers.
async fn serves_its_trainee(machine: &Machine, environment: &Environment) {
    // Simulated nodes and the host node, a default service account, and a pod that is played by the simulator.
    let admin = &environment.admin_kubeconfig;
    let nodes = machine
        .kubectl(admin, &["get", "nodes", "-o", "name"])
        .await
        .stdout;
    for node in ["a100-1", "a100-2", "cpu-1", "plateforme"] {
        assert!(nodes.contains(&format!("node/{node}\n")), "{nodes}");
    }
    let job = [
        "create",
        "job",
        "court",
        "--image=nothing/at-all",
        "--",
        "sleep",
        "1",
    ];
    machine.kubectl(admin, &job).await;
    let done = [
        "wait",
        "--for=condition=complete",
        "job/court",
        "--timeout=50s",
    ];
    assert_eq!(machine.kubectl(admin, &done).await.code, Some(0));

    // Nothing anonymous.
    let server = machine
        .kubectl(
            admin,
            &[
                "config",
                "view",
                "-o",
                "jsonpath={.clusters[0].cluster.server}",
            ],
        )
        .await
        .stdout;
    let anonymous = [
        "--server",
        &server,
        "--insecure-skip-tls-verify",
        "get",
        "ns",
    ];
    let anonymous = machine.kubectl("/dev/null".as_ref(), &anonymous).await;
    assert_ne!(anonymous.code, Some(0), "{anonymous:?}");
}

fn finished(event: &Progress) -> Option<Phase> {
    match event {
        Progress::Phase(event) if event.state == PhaseState::Done => Some(event.phase),
        _ => None,
    }
}

#[tokio::test]
async fn two_environments_are_strangers_to_each_other() {
    let Some(machine) = Machine::new().await else {
        return;
    };
    let provider = machine.provider();
    let (one, two) = tokio::join!(
        machine.create(&provider, "un"),
        machine.create(&provider, "deux")
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(provider.list().await.unwrap().len(), 2);

    // The credentials of one mean nothing to the other.
    let server = machine.kubectl(
        &two.admin_kubeconfig,
        &[
            "config",
            "view",
            "-o",
            "jsonpath={.clusters[0].cluster.server}",
        ],
    );
    let server = server.await.stdout;
    let wrong = [
        "--server",
        &server,
        "--insecure-skip-tls-verify",
        "get",
        "nodes",
    ];
    let wrong = machine.kubectl(&one.admin_kubeconfig, &wrong).await;
    assert!(
        wrong.code != Some(0) && !wrong.stdout.contains("a100"),
        "{wrong:?}"
    );

    // In a sandbox only its own API server answers, at the address its kubeconfig says.
    if Sandbox::bubblewrap().is_none() || !machine.options.programs.sandbox_relay.exists() {
        assert!(
            std::env::var_os("CI").is_none(),
            "bubblewrap or sandbox-relay is missing"
        );
        eprintln!("skipped: bubblewrap or sandbox-relay is missing");
        return;
    }
    let mut sandbox = Sandbox::with_relay(&machine.options.programs.sandbox_relay).unwrap();
    sandbox.env = vec![
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ("HOME".to_owned(), "/tmp".to_owned()),
    ];
    sandbox.ro.push(Bind::new(
        machine.tools.kubectl.canonicalize().unwrap(),
        "/opt/bin/kubectl",
    ));
    sandbox
        .ro
        .push(Bind::new(&one.trainee_kubeconfig, "/opt/kubeconfig"));
    sandbox
        .relay_out
        .push(("127.0.0.1:6443".parse().unwrap(), one.api_socket.clone()));
    let script = "/opt/bin/kubectl --kubeconfig /opt/kubeconfig get ns; ls / /run /run/atelier/*";
    let output = sandbox
        .wrap(&["sh", "-c", script])
        .unwrap()
        .output()
        .await
        .unwrap();
    assert!(output.stdout.contains("equipe-vision"), "{output:?}");
    assert!(
        !output.stdout.contains("control.sock") && !output.stdout.contains("etcd.sock"),
        "{output:?}"
    );
    let port = server.rsplit(':').next().unwrap().to_owned();
    let reach = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let output = sandbox
        .wrap(&["bash", "-c", &reach])
        .unwrap()
        .output()
        .await
        .unwrap();
    assert!(
        output.code != Some(0) && output.stderr.contains("refused"),
        "{output:?}"
    );
}

#[tokio::test]
async fn a_platform_that_was_killed_finds_its_environments_again() {
    let Some(machine) = Machine::new().await else {
        return;
    };
    let first = machine.provider();
    let environment = machine.create(&first, "anne").await.unwrap();
    drop(first);

    // The supervisor went on: it is taken over as it is.
    let second = machine.provider();
    let adopted = second.adopt().await.unwrap();
    assert_eq!(adopted.len(), 1);
    assert_eq!(adopted.first().unwrap().state, EnvironmentState::Running);

    // Everything was killed: it runs again, with what was in it.
    machine
        .kubectl(
            &environment.admin_kubeconfig,
            &["create", "configmap", "marque"],
        )
        .await;
    drop(second);
    for pid in machine.processes() {
        exec::process::signal_process(pid, exec::process::Signal::KILL);
    }
    until("all are dead", async || machine.processes().is_empty()).await;
    let third = machine.provider();
    assert_eq!(
        third.adopt().await.unwrap().first().unwrap().state,
        EnvironmentState::Running
    );
    let marks = machine
        .kubectl(
            &environment.admin_kubeconfig,
            &["get", "configmap", "marque"],
        )
        .await;
    assert!(marks.stdout.contains("marque"), "{marks:?}");
    third.delete(id("anne")).await.unwrap();
}
