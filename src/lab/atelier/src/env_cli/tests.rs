use clusters::provider::{
    ChildChange, ChildEvent, Environment, EnvironmentState, Phase, PhaseEvent, PhaseState, Progress,
};
use expect_test::expect;
use jiff::Timestamp;

use super::progress::in_words;
use super::table;

fn environment(name: &str, state: EnvironmentState) -> Environment {
    Environment {
        id: name.parse().unwrap(),
        state,
        dir: "/d".into(),
        admin_kubeconfig: "/d/admin.kubeconfig".into(),
        trainee_kubeconfig: "/d/trainee.kubeconfig".into(),
        api_socket: "/d/api/api.sock".into(),
        shells: None,
        profile_name: "cassiopee-a100".to_owned(),
        created: Timestamp::from_second(1_796_000_000).unwrap(),
    }
}

#[test]
fn the_list_is_a_table() {
    let broken = EnvironmentState::Broken {
        reason: "etcd ended\nits log".to_owned(),
    };
    let all = [
        environment("solo-1", EnvironmentState::Running),
        environment("a-rather-long-name", broken),
    ];
    expect![[r#"
        NAME                STATE               PROFILE         CREATED
        solo-1              running             cassiopee-a100  2026-11-30 00:53
        a-rather-long-name  broken: etcd ended  cassiopee-a100  2026-11-30 00:53"#]]
    .assert_eq(&table(&all));
    expect!["no environments; `atelier env create NAME` makes one"].assert_eq(&table(&[]));
}

#[test]
fn progress_is_told_in_words() {
    let at = Timestamp::UNIX_EPOCH;
    let phase = |phase, state| Progress::Phase(PhaseEvent { phase, state, at });
    let died = ChildChange::Died {
        status: "exit status: 1".to_owned(),
        next_try_ms: 1500,
    };
    let events = [
        phase(Phase::Directory, PhaseState::Started),
        phase(Phase::ApiServer, PhaseState::Started),
        phase(Phase::ApiServer, PhaseState::Done),
        phase(
            Phase::Nodes,
            PhaseState::Failed {
                reason: "create node a".to_owned(),
            },
        ),
        Progress::Child(ChildEvent {
            child: "kwok".to_owned(),
            change: died,
            attempt: 2,
            at,
        }),
        Progress::Child(ChildEvent {
            child: "kwok".to_owned(),
            change: ChildChange::Restarted,
            attempt: 2,
            at,
        }),
        Progress::State(EnvironmentState::Running),
    ];
    let told: Vec<String> = events.iter().filter_map(in_words).collect();
    expect![[r"
        … API server
        ✓ API server
        ✕ simulated nodes: create node a
        ! kwok ended (exit status: 1); attempt 2 in 1.5 s
        ✓ kwok runs again"]]
    .assert_eq(&told.join("\n"));
}
