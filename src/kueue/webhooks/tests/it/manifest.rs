//! The manifest people apply: its webhooks are the served ones, its rights are enumerated, its configuration is readable, and it is
//! what the chart renders to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kueue_api::config::Configuration;
use kueue_api::names;
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../manifests/kueue")
}

fn written() -> String {
    std::fs::read_to_string(folder().join("kueue.yaml")).unwrap()
}

fn objects() -> Vec<Value> {
    serde_saphyr::from_multiple(&written()).unwrap()
}

fn object(kind: &str, name: &str) -> Value {
    let found = objects()
        .into_iter()
        .find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("{kind} {name} is missing"))
}

fn webhooks() -> Vec<Value> {
    let mutating = object(
        "MutatingWebhookConfiguration",
        names::MUTATING_WEBHOOK_CONFIGURATION,
    );
    let validating = object(
        "ValidatingWebhookConfiguration",
        names::VALIDATING_WEBHOOK_CONFIGURATION,
    );
    [mutating, validating]
        .iter()
        .flat_map(|c| c["webhooks"].as_array().unwrap().clone())
        .collect()
}

#[test]
fn the_webhooks_are_the_served_ones() {
    let webhooks = webhooks();
    let paths: BTreeSet<_> = webhooks
        .iter()
        .map(|w| {
            let path = &w["clientConfig"]["service"]["path"];
            path.as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(paths, webhooks::paths().into_iter().collect());
    for webhook in &webhooks {
        let service = &webhook["clientConfig"]["service"];
        assert_eq!(
            (&service["name"], &service["namespace"]),
            (
                &json!(names::WEBHOOK_SERVICE),
                &json!(names::SYSTEM_NAMESPACE)
            )
        );
    }
}

/// The aggregated API is served where the `APIService` objects point, and the API server may be asked about its front proxy.
#[test]
fn the_visibility_api_is_reachable() {
    for version in kueue_api::visibility::VERSIONS {
        let name = format!("{version}.{}", kueue_api::visibility::GROUP);
        assert!(names::VISIBILITY_API_SERVICES.contains(&name.as_str()));
        let spec = object("APIService", &name)["spec"].clone();
        assert_eq!(spec["service"]["name"], names::VISIBILITY_SERVICE);
        assert!(
            spec["insecureSkipTLSVerify"].is_null(),
            "the manager's certificate is checked"
        );
    }
    let service = object("Service", names::VISIBILITY_SERVICE);
    let configuration = Configuration::defaults(None);
    assert_eq!(
        service["spec"]["ports"][0]["targetPort"],
        configuration.visibility.bind_port
    );
    let binding = object("RoleBinding", "kueue-visibility-server-auth-reader");
    assert_eq!(binding["metadata"]["namespace"], "kube-system");
}

/// The manager may read and change every kind of job that it has, and so may those who submit them.
#[test]
fn every_job_kind_has_its_roles() {
    let all = objects();
    let grants = |role: &str, group: &str, resource: &str, verb: &str| {
        let named = |one: &&Value| one["kind"] == "ClusterRole" && one["metadata"]["name"] == role;
        let found = all.iter().find(named);
        let role = found.unwrap_or_else(|| panic!("{role} is missing"));
        let rules = role["rules"].as_array().unwrap().clone();
        let has = |rule: &Value, field: &str, what: &str| {
            let list = rule[field].as_array().unwrap();
            list.iter().any(|one| one == what)
        };
        rules.iter().any(|rule| {
            has(rule, "apiGroups", group)
                && has(rule, "resources", resource)
                && has(rule, "verbs", verb)
        })
    };
    for kind in jobs::KINDS {
        let editor = format!("kueue-{}-editor-role", kind.kind.to_lowercase());
        for (role, verb) in [
            ("kueue-manager-role", "patch"),
            ("kueue-batch-user-role", "create"),
            (&editor, "create"),
        ] {
            assert!(
                grants(role, kind.group, kind.plural, verb),
                "{role}: {verb} {}",
                kind.plural
            );
        }
    }
    for kind in jobs::serving::KINDS {
        assert!(
            grants("kueue-manager-role", kind.group, kind.plural, "watch"),
            "{}",
            kind.plural
        );
    }
    assert!(grants(
        "kueue-batch-user-role",
        "leaderworkerset.x-k8s.io",
        "leaderworkersets",
        "create"
    ));
}

/// A manager that is away may hold up its own objects and jobs that name a queue, nothing else.
#[test]
fn a_manager_that_is_down_blocks_nothing_unrelated() {
    for webhook in webhooks() {
        let name = webhook["name"].as_str().unwrap();
        let groups: Vec<_> = webhook["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["apiGroups"].clone())
            .collect();
        let ours = groups.iter().all(|group| *group == json!([names::GROUP]));
        let queued = webhook["objectSelector"]["matchExpressions"]
            == json!([{"key": names::labels::QUEUE_NAME, "operator": "Exists"}]);
        let condition = webhook["matchConditions"][0]["name"].as_str();
        let asked_for = matches!(condition, Some("queued" | "has-keys-of-kueue"));
        assert!(
            webhook["failurePolicy"] == "Ignore" || ours || queued || asked_for,
            "{name}: failurePolicy {}",
            webhook["failurePolicy"]
        );
        if !ours {
            let outside = &webhook["namespaceSelector"]["matchExpressions"][0];
            assert_eq!(
                outside,
                &json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kueue-system"]}),
                "{name}"
            );
        }
    }
}

/// Nobody may grant what they do not hold: a wildcard or an aggregated role could only be installed by somebody who may do everything.
#[test]
fn rights_are_enumerated() {
    for role in objects()
        .iter()
        .filter(|object| ["ClusterRole", "Role"].contains(&object["kind"].as_str().unwrap()))
    {
        assert!(
            role["aggregationRule"].is_null(),
            "{} aggregates",
            role["metadata"]["name"]
        );
        assert!(
            !role["rules"].to_string().contains('*'),
            "{} has a wildcard",
            role["metadata"]["name"]
        );
    }
    assert!(!written().contains("helm.sh/hook"));
}

#[test]
fn the_deployment_runs_this_version_with_a_readable_configuration() {
    let deployment = object("Deployment", "kueue-controller-manager");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        container["image"],
        format!("atelier-kueue/kueue-manager:{}", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(
        (&container["command"], &container["args"][0]),
        (
            &json!(["/manager"]),
            &json!("--config=/controller_manager_config.yaml")
        )
    );
    assert_eq!(
        deployment["spec"]["template"]["metadata"]["labels"]["control-plane"],
        "controller-manager"
    );
    let map = object("ConfigMap", "kueue-manager-config");
    let text = map["data"]["controller_manager_config.yaml"]
        .as_str()
        .unwrap();
    let configuration = Configuration::parse(text, Some("kueue-system")).unwrap();
    assert_eq!(configuration.warnings, Vec::<String>::new());
    let ports: Vec<_> = container["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|port| port["containerPort"].clone())
        .collect();
    assert_eq!(
        ports,
        [
            json!(configuration.webhook.port),
            json!(8443),
            json!(configuration.visibility.bind_port),
            json!(8081)
        ]
    );
    assert_eq!(
        (
            configuration.metrics.bind_address.as_str(),
            configuration.health.bind_address.as_str()
        ),
        (":8443", ":8081")
    );
    assert_eq!(
        container["volumeMounts"][1]["mountPath"],
        configuration.webhook.cert_dir
    );
}

#[test]
fn the_manifest_is_what_the_chart_renders_to() {
    let Some(helm) = helm() else {
        assert!(
            std::env::var_os("CI").is_none(),
            "helm is missing: run `cargo xtask tools` or set HELM"
        );
        eprintln!(
            "skipped: no helm in ATELIER_TOOLS_DIR, the tool cache or PATH; `cargo xtask tools` obtains it"
        );
        return;
    };
    let fresh = tempfile::NamedTempFile::new().unwrap();
    render(&helm, fresh.path());
    assert!(
        written() == std::fs::read_to_string(fresh.path()).unwrap(),
        "kueue.yaml is stale: run manifests/kueue/render"
    );
}

fn helm() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache =
        variable("HOME").map(|home| home.join(".cache/atelier-kueue/tools/helm-4.3.1/helm"));
    let path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>())
        .map(|dir| dir.join("helm"));
    let known = [
        variable("HELM"),
        variable("ATELIER_TOOLS_DIR").map(|folder| folder.join("helm")),
        cache,
    ];
    known
        .into_iter()
        .flatten()
        .chain(path)
        .find(|program| program.is_file())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the script is under test, and this crate may not know `exec`"
)]
fn render(helm: &Path, into: &Path) {
    let output = std::process::Command::new(folder().join("render"))
        .arg(into)
        .env("HELM", helm)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
