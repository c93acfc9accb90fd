use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::backoff::Backoff;
use super::expand::expand;
use super::images::{self, Image};
use super::payload::{self, Fetched, File};
use super::plan::{self, PodPlan, Refusal};
use super::probes::Counter;
use super::{addresses, volumes};

mod statuses;

fn image() -> Image {
    Image::kueue_manager("/opt/bin/kueue-manager".into())
}

/// A pod of the controller's chart, with `changes` merged into its container and spec.
fn pod(container: &Value, spec: &Value) -> Pod {
    let mut object = json!({
        "metadata": {"name": "kueue-controller-manager-x", "namespace": "kueue-system", "uid": "u1",
            "labels": {"app": "kueue"}, "annotations": {}},
        "spec": {"serviceAccountName": "kueue-controller-manager", "containers": [
            {"name": "manager", "image": "atelier-kueue/kueue-manager:0.1.0"}]},
    });
    merge(&mut object["spec"], spec);
    merge(&mut object["spec"]["containers"][0], container);
    serde_json::from_value(object).unwrap()
}

fn merge(into: &mut Value, from: &Value) {
    for (key, value) in from.as_object().unwrap() {
        into[key] = value.clone();
    }
}

fn planned(container: &Value, spec: &Value) -> Result<PodPlan, Refusal> {
    plan::plan(&pod(container, spec), &[image()])
}

#[test]
fn an_image_is_known_whatever_its_tag() {
    let names = [
        ("atelier-kueue/kueue-manager", true),
        ("atelier-kueue/kueue-manager:0.1.0", true),
        ("atelier-kueue/kueue-manager@sha256:00", true),
        ("localhost:5000/atelier-kueue/kueue-manager:1", false),
        ("atelier-kueue/kueue-manager-evil:1", false),
        ("nginx", false),
        ("", false),
    ];
    for (name, known) in names {
        assert_eq!(images::find(&[image()], name).is_some(), known, "{name}");
    }
}

/// A name, the container's own part, the pod's own part, and what is said.
type Refused = (&'static str, Value, Value, &'static str);

fn refused_by_content() -> Vec<Refused> {
    let none = json!({});
    vec![
        (
            "loader variable",
            json!({"env": [{"name": "LD_PRELOAD", "value": "/x.so"}]}),
            none.clone(),
            "CreateContainerConfigError: variable LD_PRELOAD cannot be set on node plateforme",
        ),
        (
            "unknown image",
            json!({"image": "nginx:1"}),
            none.clone(),
            "ErrImagePull: image \"nginx:1\" cannot be run here: node plateforme downloads nothing and knows only atelier-kueue/kueue-manager:*; other pods belong on the simulated nodes",
        ),
        (
            "host path",
            none.clone(),
            json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
            "CreateContainerConfigError: volume \"v\" is hostPath: this machine's files are not for pods; emptyDir, configMap, secret, downwardAPI and projected can be used",
        ),
        (
            "host network",
            none.clone(),
            json!({"hostNetwork": true}),
            "CreateContainerConfigError: hostNetwork is not allowed on node plateforme",
        ),
        (
            "host processes",
            none.clone(),
            json!({"hostPID": true}),
            "CreateContainerConfigError: hostPID is not allowed on node plateforme",
        ),
        (
            "privileged",
            json!({"securityContext": {"privileged": true}}),
            none.clone(),
            "CreateContainerConfigError: privileged containers and added capabilities are not allowed on node plateforme",
        ),
        (
            "capability",
            json!({"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}),
            none.clone(),
            "CreateContainerConfigError: privileged containers and added capabilities are not allowed on node plateforme",
        ),
        (
            "another program",
            json!({"command": ["/bin/sh", "-c", "id"]}),
            none.clone(),
            "RunContainerError: exec \"/bin/sh\": no such file in this image; it holds only /manager",
        ),
        (
            "second container",
            none,
            json!({"containers": [{"name": "a"}, {"name": "b"}]}),
            "CreateContainerConfigError: node plateforme runs pods of one container, this one has 2",
        ),
    ]
}

fn refused_by_volume() -> Vec<Refused> {
    let none = json!({});
    vec![
        (
            "mount over the system",
            json!({"volumeMounts": [{"name": "v", "mountPath": "/usr/"}]}),
            json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            "CreateContainerConfigError: nothing can be mounted at \"/usr/\" on node plateforme",
        ),
        (
            "mount by dots",
            json!({"volumeMounts": [{"name": "v", "mountPath": "/a/../proc"}]}),
            json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            "CreateContainerConfigError: nothing can be mounted at \"/a/../proc\" on node plateforme",
        ),
        (
            "sub path out",
            json!({"volumeMounts": [{"name": "v", "mountPath": "/a", "subPath": "../../etc"}]}),
            json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            "CreateContainerConfigError: subPath of volume \"v\" leads out of it",
        ),
        (
            "file out",
            none,
            json!({"volumes": [{"name": "v", "secret": {"secretName": "s", "items": [{"key": "k", "path": "../../x"}]}}]}),
            "CreateContainerConfigError: \"../../x\" is not a path inside a volume",
        ),
    ]
}

#[test]
fn what_would_leave_the_sandbox_is_refused_in_words() {
    for (name, container, mut spec, expected) in
        refused_by_content().into_iter().chain(refused_by_volume())
    {
        if name == "second container" {
            spec = json!({"containers": [{"name": "a"}, {"name": "b"}]});
        }
        let refusal = match name {
            "second container" => {
                let mut object = serde_json::to_value(pod(&container, &json!({}))).unwrap();
                merge(&mut object["spec"], &spec);
                plan::plan(&serde_json::from_value(object).unwrap(), &[image()])
            }
            _ => planned(&container, &spec),
        };
        let Refusal { reason, message } = refusal.unwrap_err();
        assert_eq!(format!("{reason}: {message}"), expected, "{name}");
    }
}

#[test]
fn references_are_expanded_as_kubernetes_does() {
    let known = BTreeMap::from([
        ("A".to_owned(), "un".to_owned()),
        ("B".to_owned(), "$(A)".to_owned()),
    ]);
    let cases = [
        ("--x=$(A)", "--x=un"),
        ("$(A)$(A)", "unun"),
        ("$(NOPE)", "$(NOPE)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$un"),
        ("$(B)", "$(A)"),
        ("$", "$"),
        ("$(", "$("),
        ("5$ é", "5$ é"),
    ];
    for (text, expected) in cases {
        assert_eq!(expand(text, &known), expected, "{text}");
    }
}

fn fetched() -> Fetched {
    let map = json!({"metadata": {"name": "conf"}, "data": {"a": "1", "b": "2"}});
    let secret = json!({"metadata": {"name": "cert"}, "data": {"tls.crt": "Y2VydA=="}});
    Fetched {
        config_maps: BTreeMap::from([("conf".to_owned(), serde_json::from_value(map).unwrap())]),
        secrets: BTreeMap::from([("cert".to_owned(), serde_json::from_value(secret).unwrap())]),
        tokens: BTreeMap::from([(String::new(), "jeton".to_owned())]),
    }
}

fn env_of(container: &Value) -> Result<Vec<String>, String> {
    let pod = pod(container, &json!({}));
    let plan = plan::plan(&pod, &[image()]).unwrap();
    let own = |name: &str| {
        !name.starts_with("KUBERNETES_") && !matches!(name, "PATH" | "HOME" | "HOSTNAME")
    };
    payload::environment(&plan, &pod, "10.244.0.2", &fetched())
        .map(|env| {
            env.iter()
                .filter(|(name, _)| own(name))
                .map(|(name, value)| format!("{name}={value}"))
                .collect()
        })
        .map_err(|missing| missing.to_string())
}

#[test]
fn the_environment_comes_from_where_it_is_told() {
    let env = env_of(&json!({
        "envFrom": [{"prefix": "C_", "configMapRef": {"name": "conf"}}, {"secretRef": {"name": "none", "optional": true}}],
        "env": [
            {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
            {"name": "KEY", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "b"}}},
            {"name": "GONE", "valueFrom": {"secretKeyRef": {"name": "cert", "key": "x", "optional": true}}},
            {"name": "BOTH", "value": "$(NS)/$(KEY)"},
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        ],
        "resources": {"limits": {"cpu": "1500m", "memory": "512Mi"}},
    }));
    let expected = [
        "APP=kueue",
        "BOTH=kueue-system/2",
        "CPU=2",
        "C_a=1",
        "C_b=2",
        "IP=10.244.0.2",
        "KEY=2",
        "NS=kueue-system",
    ];
    assert_eq!(env.unwrap(), expected);
}

#[test]
fn what_is_missing_is_named() {
    let from =
        |source: Value| env_of(&json!({"env": [{"name": "X", "valueFrom": source}]})).unwrap_err();
    let key = |kind: &str, name: &str, key: &str| json!({kind: {"name": name, "key": key}});
    assert_eq!(
        from(key("configMapKeyRef", "nope", "a")),
        "configmap \"nope\" not found"
    );
    assert_eq!(
        from(key("secretKeyRef", "nope", "a")),
        "secret \"nope\" not found"
    );
    assert_eq!(
        from(key("secretKeyRef", "cert", "a")),
        "key \"a\" not found in secret \"cert\""
    );
    assert_eq!(
        from(json!({"fieldRef": {"fieldPath": "status.phase"}})),
        "field \"status.phase\" cannot be read from a pod here"
    );
}

#[test]
fn a_projected_volume_holds_token_authority_and_namespace() {
    let spec = json!({"volumes": [{"name": "access", "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": "conf", "items": [{"key": "a", "path": "sub/ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
        {"secret": {"name": "absent", "optional": true}},
    ]}}]});
    let pod = pod(
        &json!({"volumeMounts": [{"name": "access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]}),
        &spec,
    );
    let plan = plan::plan(&pod, &[image()]).unwrap();
    assert_eq!(
        plan.container.mounts[0].inside,
        "/run/secrets/kubernetes.io/serviceaccount"
    );
    let files = payload::files(&plan.volumes[0], &pod, &fetched()).unwrap();
    let shown: Vec<String> = files
        .iter()
        .map(|(path, file)| {
            format!(
                "{path} {:o} {}",
                file.mode,
                String::from_utf8_lossy(&file.bytes)
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "namespace 644 kueue-system",
            "sub/ca.crt 644 1",
            "token 600 jeton"
        ]
    );
}

fn file(text: &str) -> File {
    File {
        bytes: text.as_bytes().to_vec(),
        mode: 0o644,
    }
}

#[test]
fn a_volume_changes_by_one_swap_and_forgets_what_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let at = |second| jiff::Timestamp::from_second(second).unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
    let first = BTreeMap::from([("a".to_owned(), file("1")), ("d/b".to_owned(), file("2"))]);
    assert!(volumes::write(dir.path(), &first, at(1)).unwrap());
    assert_eq!(
        (read("a").as_deref(), read("d/b").as_deref()),
        (Some("1"), Some("2"))
    );
    assert!(
        !volumes::write(dir.path(), &first, at(2)).unwrap(),
        "nothing changed"
    );
    let second = BTreeMap::from([("a".to_owned(), file("3")), ("c".to_owned(), file("4"))]);
    assert!(volumes::write(dir.path(), &second, at(3)).unwrap());
    assert_eq!(
        (read("a").as_deref(), read("c").as_deref(), read("d/b")),
        (Some("3"), Some("4"), None)
    );
    let mut names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["..3000000000", "..data", "a", "c"]);
}

#[test]
fn the_wait_before_a_restart_doubles_and_is_forgotten() {
    let mut backoff = Backoff::default();
    let short = Duration::from_secs(1);
    let waits: Vec<u64> = (0..8)
        .map(|_| backoff.wait_after(short).as_secs())
        .collect();
    assert_eq!(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
    assert_eq!(backoff.wait_after(Duration::from_secs(700)).as_secs(), 0);
}

#[test]
fn a_probes_verdict_needs_its_threshold() {
    let mut counter = Counter::default();
    let answers = [
        true, false, false, true, false, false, false, false, true, true,
    ];
    let verdicts: Vec<Option<bool>> = answers.iter().map(|ok| counter.answer(*ok, 1, 3)).collect();
    let expected = [
        Some(true),
        None,
        None,
        None,
        None,
        None,
        Some(false),
        None,
        Some(true),
        None,
    ];
    assert_eq!(verdicts, expected);
}

#[test]
fn addresses_are_unique_and_not_reused_at_once() {
    let addresses = addresses::Addresses::default();
    let take = |before: Option<&str>| {
        addresses
            .take(before.map(|before| before.parse().unwrap()))
            .unwrap()
            .to_string()
    };
    assert_eq!(
        (take(None), take(None)),
        ("10.244.0.1".to_owned(), "10.244.0.2".to_owned())
    );
    assert_eq!(
        take(Some("10.244.0.9")),
        "10.244.0.9",
        "a pod keeps its address"
    );
    assert_eq!(
        take(Some("10.244.0.9")),
        "10.244.0.3",
        "unless another one has it"
    );
    assert_eq!(
        take(Some("192.0.2.1")),
        "10.244.0.4",
        "or it is none of ours"
    );
    addresses.release("10.244.0.1".parse().unwrap());
    assert_eq!(take(None), "10.244.0.5");
}
