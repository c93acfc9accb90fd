use k8s_openapi::api::core::v1 as core;
use kueue_api::v1beta2::Workload;
use scheduler::{Defect, OutOfBounds, Rule, Test};
use serde_json::{Value, json};

use super::{pods, selectors, transform, workload};
use crate::{Options, PodsReadyTimestamp, Surroundings, Transformation};

fn spec(value: Value) -> core::PodSpec {
    serde_json::from_value(value).unwrap()
}

/// `cpu=1500 memory=…` of one pod.
fn requests(value: Value) -> String {
    let mut spec = spec(value);
    pods::limits_as_requests(&mut spec);
    let asked = pods::amounts(pods::total(&spec, "spec").unwrap());
    asked
        .iter()
        .map(|(resource, amount)| format!("{resource}={amount:?}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn container(requests: &Value, limits: &Value) -> Value {
    json!({"name": "c", "resources": {"requests": requests, "limits": limits}})
}

#[test]
fn a_pod_asks_for_what_kubernetes_says_it_does() {
    let cpu = |amount: &str| container(&json!({"cpu": amount}), &json!(null));
    let sidecar = |amount: &str| json!({"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": amount}}});
    let cases = [
        ("nothing", json!({"containers": [{"name": "c"}]}), ""),
        (
            "containers add up",
            json!({"containers": [cpu("1"), cpu("500m")]}),
            "cpu=1500",
        ),
        (
            "an init container that is larger",
            json!({"containers": [cpu("1")], "initContainers": [cpu("3"), cpu("2")]}),
            "cpu=3000",
        ),
        (
            "an init container that is smaller",
            json!({"containers": [cpu("4")], "initContainers": [cpu("3")]}),
            "cpu=4000",
        ),
        (
            "a sidecar runs along",
            json!({"containers": [cpu("1")], "initContainers": [sidecar("2")]}),
            "cpu=3000",
        ),
        (
            "an init container beside a sidecar",
            json!({"containers": [cpu("1")], "initContainers": [sidecar("2"), cpu("5")]}),
            "cpu=7000",
        ),
        (
            "an init container before a sidecar",
            json!({"containers": [cpu("1")], "initContainers": [cpu("5"), sidecar("2")]}),
            "cpu=5000",
        ),
        (
            "limits stand in for requests",
            json!({"containers": [container(&json!({"cpu": "1"}), &json!({"cpu": "2", "memory": "1Ki"}))]}),
            "cpu=1000 memory=1024",
        ),
        (
            "overhead",
            json!({"containers": [cpu("1")], "overhead": {"cpu": "250m", "memory": "1"}}),
            "cpu=1250 memory=1",
        ),
        (
            "requests of the pod as a whole",
            json!({"containers": [cpu("1")], "resources": {"requests": {"cpu": "3"}}}),
            "cpu=3000",
        ),
        (
            "parts of a unit add up before they are rounded",
            json!({"containers": [cpu("0.4m"), cpu("0.4m")]}),
            "cpu=1",
        ),
    ];
    for (name, pod, expected) in cases {
        assert_eq!(requests(pod), expected, "{name}");
    }
}

/// What one pod with these requests is charged for.
fn charged(asked: &Value, options: &Options) -> String {
    let pod = spec(json!({"containers": [container(asked, &json!(null))]}));
    let charged = transform::charged(pods::total(&pod, "spec").unwrap(), options);
    let charged = pods::amounts(charged);
    let shown = charged
        .iter()
        .map(|(resource, amount)| format!("{resource}={amount:?}"));
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn excluded_resources_are_not_counted() {
    let options = Options {
        exclude_resource_prefixes: vec!["networking.example.com/".to_owned()],
        ..Options::default()
    };
    let asked = json!({"cpu": "1", "networking.example.com/vpc": "1"});
    assert_eq!(charged(&asked, &options), "cpu=1000");
}

#[test]
fn transformations_make_other_resources_of_some() {
    let rule = |retain: bool, by: Option<&str>, outputs: &[(&str, &str)]| Transformation {
        retain,
        multiply_by: by.map(str::to_owned),
        outputs: outputs
            .iter()
            .map(|(name, factor)| ((*name).to_owned(), factor.parse().unwrap()))
            .collect(),
    };
    let cases = [
        (
            "a resource without a rule stays",
            rule(false, None, &[]),
            json!({"cpu": "2"}),
            "cpu=2000",
        ),
        (
            "replaced",
            rule(false, None, &[("credits", "10")]),
            json!({"gpu": "2"}),
            "credits=20",
        ),
        (
            "kept beside what comes out",
            rule(true, None, &[("credits", "10")]),
            json!({"gpu": "2"}),
            "credits=20 gpu=2",
        ),
        (
            "added to what is asked for anyway",
            rule(false, None, &[("cpu", "100m")]),
            json!({"gpu": "2", "cpu": "1"}),
            "cpu=1200",
        ),
        (
            "an output of its own name is added",
            rule(true, None, &[("gpu", "5")]),
            json!({"gpu": "1"}),
            "gpu=6",
        ),
        (
            "multiplied, but not what is kept",
            rule(true, Some("node"), &[("sum", "1")]),
            json!({"gpu": "3", "node": "2"}),
            "gpu=3 node=2 sum=6",
        ),
        (
            "nothing to multiply by",
            rule(false, Some("node"), &[("sum", "1")]),
            json!({"gpu": "3"}),
            "sum=3",
        ),
        (
            "never below zero",
            rule(true, None, &[("cpu", "-5")]),
            json!({"gpu": "1", "cpu": "1"}),
            "cpu=1000 gpu=1",
        ),
    ];
    for (name, rule, asked, want) in cases {
        let options = Options {
            transformations: [("gpu".to_owned(), rule)].into(),
            ..Options::default()
        };
        assert_eq!(charged(&asked, &options), want, "{name}");
    }
}

/// Surroundings with one LimitRange and one RuntimeClass.
fn around(item: &Value) -> Surroundings {
    let mut around = Surroundings::default();
    let range = json!({"metadata": {"name": "r", "namespace": "ns"}, "spec": {"limits": [item]}});
    assert!(around.apply_limit_range(&serde_json::from_value(range.clone()).unwrap()));
    assert!(!around.apply_limit_range(&serde_json::from_value(range).unwrap()));
    let class = json!({"metadata": {"name": "heavy"}, "handler": "h", "overhead": {"podFixed": {"cpu": "100m"}}});
    assert!(around.apply_runtime_class(&serde_json::from_value(class).unwrap()));
    around
}

#[test]
fn surroundings_fill_in_what_a_template_leaves_open() {
    let item = json!({"type": "Container", "default": {"cpu": "4", "memory": "8"}, "defaultRequest": {"cpu": "3"}});
    let around = around(&item);
    let cases = [
        (
            "a namespace without ranges",
            "other",
            json!({"containers": [{"name": "c"}]}),
            "",
        ),
        (
            "both defaults",
            "ns",
            json!({"containers": [{"name": "c"}]}),
            "cpu=3000 memory=8",
        ),
        (
            "own requests win",
            "ns",
            json!({"containers": [container(&json!({"cpu": "1"}), &json!(null))]}),
            "cpu=1000 memory=8",
        ),
        (
            "an own limit wins over a default request",
            "ns",
            json!({"containers": [container(&json!(null), &json!({"cpu": "9"}))]}),
            "cpu=9000 memory=8",
        ),
        (
            "overhead of the class",
            "other",
            json!({"containers": [{"name": "c"}], "runtimeClassName": "heavy"}),
            "cpu=100",
        ),
        (
            "own overhead wins",
            "other",
            json!({"containers": [{"name": "c"}], "runtimeClassName": "heavy", "overhead": {"memory": "1"}}),
            "memory=1",
        ),
        (
            "a class nobody knows",
            "other",
            json!({"containers": [{"name": "c"}], "runtimeClassName": "light"}),
            "",
        ),
    ];
    for (name, namespace, pod, want) in cases {
        let mut spec = spec(pod);
        around.adjust(namespace, &mut spec);
        let asked = pods::amounts(pods::total(&spec, "spec").unwrap());
        let shown = asked
            .iter()
            .map(|(resource, amount)| format!("{resource}={amount:?}"));
        assert_eq!(shown.collect::<Vec<_>>().join(" "), want, "{name}");
    }
}

#[test]
fn what_a_limit_range_does_not_let_pass_is_a_defect() {
    let item = json!({"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "10"}});
    let around = around(&item);
    let of = |container: Value| {
        let set =
            json!({"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}});
        let object =
            json!({"metadata": {"name": "w", "namespace": "ns"}, "spec": {"podSets": [set]}});
        let object: Workload = serde_json::from_value(object).unwrap();
        workload(&object, &Options::default(), &around).defect
    };
    let field = "spec.podSets[0].template.spec.containers[0]".to_owned();
    let bound = |name: &str, rule| OutOfBounds {
        field: field.clone(),
        resources: vec![name.into()],
        rule,
    };
    assert_eq!(of(container(&json!({"cpu": "2"}), &json!(null))), None);
    assert_eq!(
        of(container(&json!({"cpu": "3", "memory": "1"}), &json!(null))),
        Some(Defect::OutsideLimitRange(vec![
            bound("cpu", Rule::AboveMax),
            bound("memory", Rule::BelowMin)
        ]))
    );
    // A limit above the maximum counts as much as a request.
    assert_eq!(
        of(container(&json!({"cpu": "1"}), &json!({"cpu": "3"}))),
        Some(Defect::OutsideLimitRange(vec![bound(
            "cpu",
            Rule::AboveMax
        )]))
    );
}

fn converted(value: Value, options: &Options) -> scheduler::Workload {
    let object: Workload = serde_json::from_value(value).unwrap();
    workload(&object, options, &Surroundings::default())
}

#[test]
fn what_cannot_be_read_or_exceeds_its_limits_is_a_defect_that_names_the_field() {
    let of = |container: Value| {
        let set =
            json!({"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}});
        converted(
            json!({"metadata": {"name": "w"}, "spec": {"podSets": [set]}}),
            &Options::default(),
        )
        .defect
    };
    assert_eq!(
        of(container(&json!({"cpu": "1"}), &json!({"cpu": "1"}))),
        None
    );
    let Some(Defect::Malformed(text)) = of(container(&json!({"cpu": "lots"}), &json!(null))) else {
        panic!("it was read")
    };
    assert!(text.starts_with("spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: \"lots\" is not a quantity"), "{text}");
    let above = of(container(
        &json!({"cpu": "2", "memory": "2"}),
        &json!({"cpu": "1", "memory": "1"}),
    ));
    let bound = OutOfBounds {
        field: "spec.podSets[0].template.spec.containers[0]".to_owned(),
        resources: vec!["cpu".into(), "memory".into()],
        rule: Rule::AboveLimits,
    };
    assert_eq!(above, Some(Defect::RequestsAboveLimits(vec![bound])));
}

#[test]
fn the_place_in_the_queue_follows_the_reason_of_an_eviction() {
    let evicted = |reason: &str| {
        let condition = json!({"type": "Evicted", "status": "True", "reason": reason, "message": "", "lastTransitionTime": "2030-01-01T00:00:02Z"});
        json!({"metadata": {"name": "w", "creationTimestamp": "2030-01-01T00:00:01Z"}, "status": {"conditions": [condition]}})
    };
    let by_creation = Options {
        pods_ready_timestamp: PodsReadyTimestamp::Creation,
        ..Options::default()
    };
    let cases = [
        (
            "PodsReadyTimeout",
            Options::default(),
            "2030-01-01T00:00:02Z",
        ),
        ("PodsReadyTimeout", by_creation, "2030-01-01T00:00:01Z"),
        ("AdmissionCheck", Options::default(), "2030-01-01T00:00:02Z"),
        ("Preempted", Options::default(), "2030-01-01T00:00:01Z"),
    ];
    for (reason, options, expected) in cases {
        assert_eq!(
            converted(evicted(reason), &options).queued.to_string(),
            expected,
            "{reason}"
        );
    }
}

#[test]
fn pods_given_back_no_longer_count_unless_switched_off() {
    let object = json!({
        "metadata": {"name": "w"},
        "spec": {"podSets": [{"name": "main", "count": 5, "template": {"spec": {"containers": []}}}]},
        "status": {"reclaimablePods": [{"name": "main", "count": 2}, {"name": "other", "count": 9}]},
    });
    let mut options = Options::default();
    assert_eq!(converted(object.clone(), &options).pod_sets[0].count, 3);
    options.features.reclaimable_pods = false;
    assert_eq!(converted(object, &options).pod_sets[0].count, 5);
}

#[test]
fn operators_nobody_knows_match_nothing() {
    let selector = serde_json::from_value(json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "Near", "values": ["d"]}]})).unwrap();
    let tests: Vec<_> = selectors::selector(&selector)
        .requirements
        .into_iter()
        .map(|requirement| requirement.test)
        .collect();
    assert_eq!(tests, [Test::In(vec!["b".to_owned()]), Test::Never]);
    let toleration = |value: Value| selectors::toleration(&serde_json::from_value(value).unwrap());
    assert_eq!(toleration(json!({"key": "a", "operator": "Near"})), None);
    assert_eq!(toleration(json!({"key": "a", "effect": "NoNothing"})), None);
    assert!(toleration(json!({"operator": "Exists"})).is_some());
}
