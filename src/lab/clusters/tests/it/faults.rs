use std::fs;
use std::path::Path;

use clusters::local::{LocalOptions, LocalProvider};
use clusters::provider::{ChildChange, EnvironmentState, Phase, Progress, Provider, ProviderError};
use exec::process::{Signal, signal_process};
use expect_test::expect;
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::machine::{Machine, id, spec, until};

#[tokio::test]
async fn a_program_that_dies_is_started_again_and_the_user_is_told() {
    let Some(machine) = Machine::new().await else {
        return;
    };
    let provider = machine.provider();
    let environment = machine.create(&provider, "anne").await.unwrap();
    for program in ["etcd", "kube-apiserver", "kube-scheduler"] {
        let mut events = provider.subscribe(id("anne"));
        let pid = machine.pid_of(program).unwrap();
        signal_process(pid, Signal::KILL);
        let mut died = false;
        while let Some(event) = events.next().await {
            let Progress::Child(event) = event else {
                continue;
            };
            if event.child != program {
                continue;
            }
            died |= event.next_try().is_some();
            if event.change == ChildChange::Restarted {
                break;
            }
        }
        assert!(died, "{program}: that it died was not told");
        assert_ne!(machine.pid_of(program), Some(pid));
    }
    let nodes = ["get", "nodes", "-o", "name"];
    until("the API server answers again", async || {
        machine
            .kubectl(&environment.admin_kubeconfig, &nodes)
            .await
            .stdout
            .contains("a100-1")
    })
    .await;
    assert_eq!(
        provider.get(id("anne")).await.unwrap().state,
        EnvironmentState::Running
    );
}

#[tokio::test]
async fn a_supervisor_that_is_killed_is_replaced_and_leaves_nothing_behind() {
    let Some(machine) = Machine::new().await else {
        return;
    };
    let provider = machine.provider();
    machine.create(&provider, "anne").await.unwrap();
    let supervisor = machine.pid_of("environment-supervisor").unwrap();
    let server = machine.pid_of("kube-apiserver").unwrap();
    signal_process(supervisor, Signal::KILL);
    until("another supervisor has it running", async || {
        let another = machine
            .pid_of("environment-supervisor")
            .is_some_and(|pid| pid != supervisor);
        another
            && provider
                .get(id("anne"))
                .await
                .is_ok_and(|now| now.state == EnvironmentState::Running)
    })
    .await;
    assert!(!machine.processes().contains(&server));
    provider.delete(id("anne")).await.unwrap();
    assert!(machine.processes().is_empty());
}

#[tokio::test]
async fn a_failed_creation_says_why_and_leaves_nothing_behind() {
    let Some(mut machine) = Machine::new().await else {
        return;
    };
    let broken = machine.data.path().join("broken");
    fs::write(
        &broken,
        "#!/bin/sh\necho 'panic: this server cannot run' >&2\nexit 3\n",
    )
    .unwrap();
    fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    machine.options.programs.tools.kube_apiserver = broken;
    let provider = machine.provider();
    let error = machine.create(&provider, "anne").await.unwrap_err();
    let ProviderError::Failed {
        phase: Some(Phase::ApiServer),
        reason,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(reason.contains("panic: this server cannot run"), "{reason}");
    assert!(!machine.folder("anne").exists() && machine.processes().is_empty());
}

#[tokio::test]
async fn a_cancelled_creation_leaves_nothing_behind() {
    let Some(machine) = Machine::new().await else {
        return;
    };
    let provider = machine.provider();
    let cancel = CancellationToken::new();
    let mut events = provider.subscribe(id("anne"));
    let stopper = cancel.clone();
    let watching = tokio::spawn(async move {
        while let Some(event) = events.next().await {
            if matches!(event, Progress::Phase(event) if event.phase == Phase::ApiServer) {
                stopper.cancel();
                return;
            }
        }
    });
    let error = provider.create(spec("anne"), cancel).await.unwrap_err();
    expect!["create of environment anne was cancelled"].assert_eq(&error.to_string());
    watching.await.unwrap();
    assert!(!machine.folder("anne").exists() && machine.processes().is_empty());
}

#[tokio::test]
async fn what_was_being_created_when_the_platform_was_killed_is_removed() {
    let Some(machine) = Machine::new().await else {
        return;
    };
    let provider = machine.provider();
    let creating = tokio::spawn({
        let provider = provider.clone();
        async move {
            provider
                .create(spec("anne"), CancellationToken::new())
                .await
        }
    });
    until("its API server starts", async || {
        machine.pid_of("kube-apiserver").is_some()
    })
    .await;
    creating.abort();
    for pid in machine.processes() {
        signal_process(pid, Signal::KILL);
    }
    until("all are dead", async || machine.processes().is_empty()).await;
    let second = machine.provider();
    assert!(second.adopt().await.unwrap().is_empty());
    assert!(!machine.folder("anne").exists() && machine.processes().is_empty());
}

fn without_tools(data: &Path) -> LocalOptions {
    let tools = clusters::tools::Tools::in_dir(Path::new("/nowhere"));
    let programs = clusters::local::Programs {
        tools,
        sandbox_relay: "/nowhere".into(),
        manager: None,
    };
    let supervisor = env!("CARGO_BIN_EXE_environment-supervisor").into();
    LocalOptions {
        data_dir: data.to_owned(),
        programs,
        supervisor,
        concurrency: None,
        min_free_bytes: 0,
        kind: None,
    }
}

async fn refusal(options: LocalOptions) -> String {
    let data = options.data_dir.display().to_string();
    let provider = LocalProvider::new(options);
    let error = provider
        .create(spec("anne"), CancellationToken::new())
        .await
        .unwrap_err();
    error.to_string().replace(&data, "DATA")
}

#[tokio::test]
async fn bad_places_and_missing_programs_are_told_in_words() {
    let data = tempfile::tempdir().unwrap();
    let missing = refusal(without_tools(data.path())).await;
    assert!(
        missing.starts_with("create environment anne: cannot start `/nowhere/etcd"),
        "{missing}"
    );
    assert!(!data.path().join("environments/anne").exists());

    let full = LocalOptions {
        min_free_bytes: u64::MAX,
        ..without_tools(data.path())
    };
    let full = refusal(full).await;
    assert!(
        full.starts_with("the disk of DATA/environments has ") && full.contains("free some space"),
        "{full}"
    );

    let file = data.path().join("a-file");
    fs::write(&file, "").unwrap();
    let nowhere = refusal(without_tools(&file)).await;
    expect!["cannot make a folder in DATA/environments: Not a directory (os error 20)"]
        .assert_eq(&nowhere);

    let supervisor = LocalOptions {
        supervisor: "/nowhere/supervisor".into(),
        ..without_tools(data.path())
    };
    let supervisor = refusal(supervisor).await;
    assert!(
        supervisor.contains("cannot start `/nowhere/supervisor --platform-version"),
        "{supervisor}"
    );
}

#[tokio::test]
async fn a_name_that_is_taken_is_refused_and_an_unknown_one_is_told() {
    let data = tempfile::tempdir().unwrap();
    fs::create_dir_all(data.path().join("environments/anne")).unwrap();
    let provider = LocalProvider::new(without_tools(data.path()));
    let taken = provider
        .create(spec("anne"), CancellationToken::new())
        .await
        .unwrap_err();
    expect!["environment anne exists already: delete it first, or start it"]
        .assert_eq(&taken.to_string());
    let unknown = provider.stop(id("bob")).await.unwrap_err();
    expect!["no environment is named bob"].assert_eq(&unknown.to_string());
    provider.delete(id("bob")).await.unwrap();
}
