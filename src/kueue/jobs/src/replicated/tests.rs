//! The kinds of the table: order of roles, start, stop, end.

use serde_json::{Value, json};

use super::{JAX_JOB, MPI_JOB, PADDLE_JOB, PYTORCH_JOB, TF_JOB, XGBOOST_JOB};
use crate::PodSetInfo;
use crate::job::{Change, Finish, GenericJob};
use crate::kind::JobKind;

fn template(class: Option<&str>) -> Value {
    json!({"metadata": {}, "spec": {"containers": [{"name": "c", "novel": 1}], "priorityClassName": class}})
}

fn read(kind: &JobKind, field: &str, roles: &[(&str, Value)]) -> Box<dyn GenericJob> {
    let mut specs = json!({});
    for (role, replica) in roles {
        specs[*role] = replica.clone();
    }
    let value = json!({
        "metadata": {"name": "entrainement", "namespace": "equipe-vision"},
        "spec": {"runPolicy": {"suspend": true}, field: specs},
    });
    (kind.read)(value).unwrap()
}

fn replica(replicas: i32) -> Value {
    json!({"replicas": replicas, "template": template(None)})
}

#[test]
fn podsets_come_in_the_order_of_the_roles() {
    for (kind, field, roles, want) in [
        (
            &PYTORCH_JOB,
            "pytorchReplicaSpecs",
            vec!["Worker", "Master"],
            vec!["master", "worker"],
        ),
        (
            &TF_JOB,
            "tfReplicaSpecs",
            vec!["Evaluator", "Worker", "PS", "Master", "Chief"],
            vec!["chief", "master", "ps", "worker", "evaluator"],
        ),
        (
            &XGBOOST_JOB,
            "xgbReplicaSpecs",
            vec!["Worker", "Master"],
            vec!["master", "worker"],
        ),
        (
            &PADDLE_JOB,
            "paddleReplicaSpecs",
            vec!["Worker"],
            vec!["worker"],
        ),
        (&JAX_JOB, "jaxReplicaSpecs", vec!["Worker"], vec!["worker"]),
        (
            &MPI_JOB,
            "mpiReplicaSpecs",
            vec!["Worker", "Launcher"],
            vec!["launcher", "worker"],
        ),
        (&PYTORCH_JOB, "pytorchReplicaSpecs", vec!["Unknown"], vec![]),
    ] {
        let roles: Vec<_> = roles.into_iter().map(|role| (role, replica(2))).collect();
        let sets = read(kind, field, &roles).pod_sets().unwrap();
        let got: Vec<_> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(got, want, "{}", kind.kind);
        assert!(sets.iter().all(|set| set.count == 2), "{}", kind.kind);
    }
}

#[test]
fn a_role_without_a_count_is_one_pod() {
    let job = read(
        &PYTORCH_JOB,
        "pytorchReplicaSpecs",
        &[("Master", json!({"template": template(None)}))],
    );
    assert_eq!(job.pod_sets().unwrap()[0].count, 1);
}

#[test]
fn it_starts_with_what_admission_says_and_comes_back_as_it_was() {
    let mut job = read(
        &PYTORCH_JOB,
        "pytorchReplicaSpecs",
        &[("Master", replica(1)), ("Worker", replica(3))],
    );
    let originals: Vec<_> = job
        .pod_sets()
        .unwrap()
        .iter()
        .map(PodSetInfo::of_pod_set)
        .collect();
    let suspended = job.to_value().unwrap();
    let mut infos = originals.clone();
    for info in &mut infos {
        info.node_selector
            .insert("gpu".to_owned(), "v100".to_owned());
    }
    job.run_with(&infos).unwrap();
    assert!(!job.is_suspended());
    let running = job.to_value().unwrap();
    let worker = "/spec/pytorchReplicaSpecs/Worker/template/spec";
    let spec = running.pointer(worker).unwrap();
    assert_eq!(
        (&spec["nodeSelector"]["gpu"], &spec["containers"][0]["name"]),
        (&json!("v100"), &json!("c"))
    );
    let Some(Change::Object(patch)) = job.stop_step(Some(&originals)) else {
        panic!("a running job has to be stopped");
    };
    let mut back = running;
    crate::merge::apply(&mut back, &patch);
    assert_eq!(back, suspended);
}

#[test]
fn fields_that_nobody_here_knows_survive_start_and_stop() {
    let mut job = read(&JAX_JOB, "jaxReplicaSpecs", &[("Worker", replica(1))]);
    let mut info = PodSetInfo::of_pod_set(&job.pod_sets().unwrap()[0]);
    info.labels.insert("x".to_owned(), "y".to_owned());
    job.run_with(&[info]).unwrap();
    let value = job.to_value().unwrap();
    let container = value
        .pointer("/spec/jaxReplicaSpecs/Worker/template/spec/containers/0")
        .unwrap();
    assert_eq!(container["novel"], 1);
}

#[test]
fn infos_of_another_shape_are_refused_and_restore_nothing() {
    let mut job = read(
        &PYTORCH_JOB,
        "pytorchReplicaSpecs",
        &[("Master", replica(1))],
    );
    let none: &[PodSetInfo] = &[];
    assert!(job.run_with(none).is_err());
    assert!(job.stop_step(Some(none)).is_none());
}

#[test]
fn the_priority_of_the_run_comes_first_then_that_of_the_first_role() {
    for (name, run, master, worker, want) in [
        ("of the run", Some("run"), Some("m"), Some("w"), Some("run")),
        ("of the first role", None, Some("m"), Some("w"), Some("m")),
        ("of a later role", None, None, Some("w"), Some("w")),
        ("none", None, None, None, None),
    ] {
        let role = |class| json!({"template": template(class)});
        let mut job = read(
            &PYTORCH_JOB,
            "pytorchReplicaSpecs",
            &[("Master", role(master)), ("Worker", role(worker))],
        )
        .to_value()
        .unwrap();
        job["spec"]["runPolicy"]["schedulingPolicy"] = json!({"priorityClass": run});
        let job = (PYTORCH_JOB.read)(job).unwrap();
        assert_eq!(job.priority_class(), want, "{name}");
    }
}

#[test]
fn it_ends_as_its_conditions_say() {
    for (name, conditions, want) in [
        ("runs", json!([{"type": "Running", "status": "True"}]), None),
        (
            "succeeded",
            json!([{"type": "Succeeded", "status": "True", "message": "fini"}]),
            Some(Finish {
                success: true,
                message: "fini".to_owned(),
            }),
        ),
        (
            "failed",
            json!([{"type": "Succeeded", "status": "False"}, {"type": "Failed", "status": "True", "message": "code 1"}]),
            Some(Finish {
                success: false,
                message: "code 1".to_owned(),
            }),
        ),
    ] {
        let mut job = read(&TF_JOB, "tfReplicaSpecs", &[]).to_value().unwrap();
        job["status"] =
            json!({"conditions": conditions, "replicaStatuses": {"Worker": {"active": 1}}});
        let job = (TF_JOB.read)(job).unwrap();
        assert_eq!(job.finished(), want, "{name}");
        assert_eq!(job.pods_ready(), name == "runs");
        assert!(job.is_active());
    }
}
