//! Wrappers and what is in them as values.

use serde_json::{Value, json};

use super::APP_WRAPPER;
use super::places::{inferred, pointer};
use crate::job::{Change, GenericJob};
use crate::pod_set_info::PodSetInfo;

fn template(cpu: &str) -> Value {
    json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}})
}

fn job() -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "inner"}, "spec": {"parallelism": 5, "completions": 3, "template": template("1")}})
}

fn wrapper(components: &Value, status: &Value) -> Box<dyn GenericJob> {
    let object = json!({
        "metadata": {"name": "AW", "namespace": "reef"},
        "spec": {"suspend": true, "components": components},
        "status": status,
    });
    (APP_WRAPPER.read)(object).unwrap()
}

fn told(job: &dyn GenericJob) -> Vec<(String, i32)> {
    let sets = job.pod_sets().unwrap().into_iter();
    sets.map(|set| (set.name, set.count)).collect()
}

#[test]
fn its_podsets_are_those_of_what_is_in_it() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"app": "a"}}, "spec": template("1")["spec"]});
    let other =
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "spec": {"pods": [template("2")]}});
    let declared = json!([{"path": "template.spec.pods[0]", "replicas": 7}]);
    let service = json!({"apiVersion": "v1", "kind": "Service"});
    let components = json!([
        {"template": job()},
        {"template": pod},
        {"template": service},
        {"template": other, "declaredPodSets": declared},
    ]);
    let wrapper = wrapper(&components, &json!({}));
    let want = [("aw-0", 3), ("aw-1", 1), ("aw-2", 7)];
    assert_eq!(
        told(wrapper.as_ref()),
        want.map(|(name, count)| (name.to_owned(), count))
    );
    let pod = &wrapper.pod_sets().unwrap()[1].template;
    let meta = pod.metadata.clone().unwrap();
    assert_eq!((meta.name, meta.labels.unwrap().len()), (None, 1));
}

#[test]
fn what_its_controller_wrote_down_counts() {
    let components = json!([{"template": job()}]);
    let states = json!([{"podSets": [{"path": "template.spec.template", "replicas": 2}]}]);
    let wrapper = wrapper(&components, &json!({"componentStatus": states}));
    assert_eq!(told(wrapper.as_ref()), [("aw-0".to_owned(), 2)]);
}

#[test]
fn paths_lead_through_fields_and_lists() {
    let cases = [
        ("template", Some("")),
        ("template.spec.template", Some("/spec/template")),
        ("template.spec.pods[10][2].x", Some("/spec/pods/10/2/x")),
        ("template[1]", Some("/1")),
        ("spec.template", None),
        ("template..x", None),
        ("template.a[x]", None),
    ];
    for (path, want) in cases {
        assert_eq!(pointer(path).as_deref(), want, "{path}");
    }
}

#[test]
fn known_kinds_say_where_their_templates_are() {
    let role = |replicas: i32| json!({"replicas": replicas, "template": template("1")});
    let cases = [
        (
            json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {"replicatedJobs": [{"replicas": 2, "template": {"spec": {"parallelism": 4}}}]}}),
            vec![("template.spec.replicatedJobs[0].template.spec.template", 8)],
        ),
        (
            json!({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {"Master": role(1), "Worker": role(3)}}}),
            vec![
                ("template.spec.pytorchReplicaSpecs.Master.template", 1),
                ("template.spec.pytorchReplicaSpecs.Worker.template", 3),
            ],
        ),
        (
            json!({"apiVersion": "ray.io/v1", "kind": "RayJob", "spec": {"rayClusterSpec": {"workerGroupSpecs": [role(2)]}}}),
            vec![
                ("template.spec.rayClusterSpec.headGroupSpec.template", 1),
                (
                    "template.spec.rayClusterSpec.workerGroupSpecs[0].template",
                    2,
                ),
            ],
        ),
        (json!({"apiVersion": "v1", "kind": "ConfigMap"}), vec![]),
    ];
    for (object, want) in cases {
        let got = inferred(&object);
        let got: Vec<_> = got
            .iter()
            .map(|one| (one.path.as_str(), one.replicas))
            .collect();
        assert_eq!(got, want, "{}", object["kind"]);
    }
}

#[test]
fn what_an_admission_adds_is_noted_beside_each_object() {
    let service = json!({"apiVersion": "v1", "kind": "Service"});
    let mut wrapper = wrapper(
        &json!([{"template": service}, {"template": job()}]),
        &json!({}),
    );
    let before = wrapper.to_value().unwrap();
    assert!(wrapper.run_with(&[]).is_err());
    let info = PodSetInfo {
        node_selector: [("zone".to_owned(), "a".to_owned())].into(),
        ..PodSetInfo::default()
    };
    wrapper.run_with(&[info]).unwrap();
    let running = wrapper.to_value().unwrap();
    assert!(running["spec"]["components"][0]["podSetInfos"].is_null());
    let noted = &running["spec"]["components"][1]["podSetInfos"];
    assert_eq!(*noted, json!([{"nodeSelector": {"zone": "a"}}]));
    let Some(Change::Object(patch)) = wrapper.stop_step(Some(&[])) else {
        panic!("it runs");
    };
    let mut stopped = running;
    crate::merge::apply(&mut stopped, &patch);
    assert_eq!(stopped, before);
}

#[test]
fn one_that_failed_ends_once_its_objects_are_gone() {
    let deployed = |value: &str| json!([{"type": "ResourcesDeployed", "status": value}]);
    let cases = [
        (json!({"phase": "Running"}), None),
        (json!({"phase": "Succeeded"}), Some(true)),
        (
            json!({"phase": "Failed", "conditions": deployed("True")}),
            None,
        ),
        (
            json!({"phase": "Failed", "conditions": deployed("False")}),
            Some(false),
        ),
    ];
    for (status, want) in cases {
        let got = wrapper(&json!([]), &status).finished();
        assert_eq!(got.map(|end| end.success), want, "{status}");
    }
}
