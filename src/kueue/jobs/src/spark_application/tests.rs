//! Applications of Spark as values.

use kueue_api::features::Features;
use serde_json::{Value, json};

use super::SPARK_APPLICATION;
use crate::job::{Change, GenericJob};
use crate::pod_set_info::PodSetInfo;

fn value(status: &Value) -> Value {
    json!({
        "metadata": {"name": "pi", "namespace": "reef", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
        "spec": {
            "mode": "cluster", "suspend": true,
            "volumes": [{"name": "data"}, {"name": "other"}],
            "driver": {
                "coreRequest": "500m", "memory": "512m", "labels": {"a": "b"}, "volumeMounts": [{"name": "data", "mountPath": "/d"}],
                "template": {"metadata": {"labels": {"t": "u"}}},
            },
            "executor": {
                "instances": 3, "coreRequest": "1", "coreLimit": "2", "memory": "1G", "gpu": {"name": "nvidia.com/gpu", "quantity": 1},
                "sidecars": [{"name": "proxy"}],
            }},
        "status": status,
    })
}

fn job(status: &Value) -> Box<dyn GenericJob> {
    (SPARK_APPLICATION.read)(value(status)).unwrap()
}

#[test]
fn a_driver_and_its_executors_ask_for_what_their_fields_say() {
    let sets = job(&json!({})).pod_sets().unwrap();
    let told: Vec<_> = sets
        .iter()
        .map(|set| (set.name.as_str(), set.count))
        .collect();
    assert_eq!(told, [("driver", 1), ("executor", 3)]);
    let driver = sets[0].template.spec.as_ref().unwrap();
    let asked = json!(driver.containers[0].resources);
    assert_eq!(
        asked,
        json!({"requests": {"cpu": "500m", "memory": "512Mi"}})
    );
    assert_eq!(driver.volumes.as_ref().unwrap().len(), 1);
    let labels = sets[0].template.metadata.clone().unwrap().labels.unwrap();
    assert_eq!(labels.len(), 2, "of the template and of the role");
    let executor = sets[1].template.spec.as_ref().unwrap();
    let asked = json!(executor.containers[0].resources);
    let want = json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "nvidia.com/gpu": "1"}});
    assert_eq!(asked, want);
    assert_eq!(executor.containers[1].name, "proxy");
}

#[test]
fn an_amount_that_is_none_is_refused() {
    let mut object = value(&json!({}));
    object["spec"]["driver"]["coreRequest"] = json!("much");
    let job = (SPARK_APPLICATION.read)(object).unwrap();
    assert!(job.pod_sets().is_err());
}

#[test]
fn starting_and_stopping_leave_no_trace_but_an_empty_template() {
    let mut running = job(&json!({}));
    let originals: Vec<_> = running
        .pod_sets()
        .unwrap()
        .iter()
        .map(PodSetInfo::of_pod_set)
        .collect();
    let info = PodSetInfo {
        node_selector: [("zone".to_owned(), "a".to_owned())].into(),
        ..PodSetInfo::default()
    };
    assert!(running.run_with(std::slice::from_ref(&info)).is_err());
    running.run_with(&[info.clone(), info]).unwrap();
    let mut object = running.to_value().unwrap();
    assert_eq!(object["spec"]["executor"]["nodeSelector"]["zone"], "a");
    let Some(Change::Object(patch)) = running.stop_step(Some(&originals)) else {
        panic!("it runs");
    };
    crate::merge::apply(&mut object, &patch);
    assert!(object["spec"]["executor"]["nodeSelector"].is_null());
    let stopped = (SPARK_APPLICATION.read)(object).unwrap();
    assert!(stopped.is_suspended() && stopped.stop_step(Some(&originals)).is_none());
}

#[test]
fn a_selector_for_all_becomes_one_of_each_role() {
    let mut object = value(&json!({}));
    object["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    let mut job = (SPARK_APPLICATION.read)(object).unwrap();
    job.run_with(&[PodSetInfo::default(), PodSetInfo::default()])
        .unwrap();
    let object = job.to_value().unwrap();
    assert!(object["spec"]["nodeSelector"].is_null());
    for role in ["driver", "executor"] {
        assert_eq!(object["spec"][role]["nodeSelector"]["disk"], "ssd");
    }
}

#[test]
fn its_pods_are_ready_once_all_executors_are() {
    let states = |last: &str| json!({"applicationState": {"state": "RUNNING"}, "executorState": {"1": "RUNNING", "2": "COMPLETED", "3": last}});
    assert!(job(&states("RUNNING")).pods_ready());
    assert!(!job(&states("PENDING")).pods_ready());
    assert!(job(&states("PENDING")).is_active());
}

#[test]
fn it_ends_well_or_not() {
    for (state, want) in [
        ("RUNNING", None),
        ("COMPLETED", Some(true)),
        ("FAILED", Some(false)),
        ("SUBMISSION_FAILED", Some(false)),
    ] {
        let end = job(&json!({"applicationState": {"state": state}})).finished();
        assert_eq!(end.map(|end| end.success), want, "{state}");
    }
}

#[test]
fn only_what_can_be_counted_beforehand_is_managed() {
    let mut object = value(&json!({}));
    object["spec"]["mode"] = json!("client");
    object["spec"]["dynamicAllocation"] = json!({"enabled": true});
    let job = (SPARK_APPLICATION.read)(object).unwrap();
    let found = job.problems(&Features::default());
    let fields: Vec<_> = found.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(fields, ["spec.mode", "spec.dynamicAllocation.enabled"]);
}
