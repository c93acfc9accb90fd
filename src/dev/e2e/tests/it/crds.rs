//! The CRDs in a real API server: what it defaults, what it refuses, in the words of the reference.

use std::{collections::BTreeMap, path::Path};

use exec::Output;
use serde::Deserialize;
use serde_json::Value;
use testkit::Platform;

/// One case of `kueue-api/tests/api-server-cases.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    create: Value,
    /// A merge patch of the status.
    status: Option<Value>,
    /// A merge patch of the rest.
    change: Option<Value>,
    /// What the last of these acts must be refused with.
    refused: Option<String>,
    /// What must be found otherwise, by `JSONPath`.
    #[serde(default)]
    then: BTreeMap<String, String>,
}

/// Applies the CRDs and tries every case.
pub(crate) async fn hold(platform: &Platform, environment: &str) {
    let crds = root().join("manifests/kueue/crds");
    let apply = platform
        .kubectl(environment, ["apply", "--server-side", "-f"])
        .arg(&crds);
    apply.run().await.unwrap_or_else(|error| panic!("{error}"));
    let wait = [
        "wait",
        "--for=condition=Established",
        "--timeout=60s",
        "crd",
        "--all",
    ];
    platform
        .kubectl(environment, wait)
        .run()
        .await
        .unwrap_or_else(|error| panic!("{error}"));

    let text = std::fs::read_to_string(root().join(CASES)).expect("the cases can be read");
    let cases: Vec<Case> = serde_saphyr::from_str(&text).expect("the cases are YAML");
    assert!(
        cases.len() > 30,
        "only {} cases: were they moved?",
        cases.len()
    );
    let mut wrong = Vec::new();
    for case in &cases {
        if let Err(reason) = attempt(platform, environment, case).await {
            wrong.push(format!("{}: {reason}", case.name));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

const CASES: &str = "src/kueue/kueue-api/tests/api-server-cases.yaml";

async fn attempt(platform: &Platform, environment: &str, case: &Case) -> Result<(), String> {
    let mut last = create(platform, environment, &case.create).await;
    let patches = [
        (case.status.as_ref().map(under_status), Some("status")),
        (case.change.clone(), None),
    ];
    for (patch, subresource) in patches {
        let Some(patch) = patch else { continue };
        if last.code != Some(0) {
            return Err(format!("refused too early: {}", last.stderr));
        }
        last = change(platform, environment, &case.create, &patch, subresource).await;
    }
    match &case.refused {
        Some(_) if last.code == Some(0) => Err("not refused".to_owned()),
        Some(words) if last.stderr.contains(words) => Ok(()),
        Some(words) => Err(format!("expected `{words}` in: {}", last.stderr)),
        None if last.code != Some(0) => Err(last.stderr),
        None => compare(platform, environment, case).await,
    }
}

fn under_status(status: &Value) -> Value {
    serde_json::json!({ "status": status })
}

async fn create(platform: &Platform, environment: &str, object: &Value) -> Output {
    let command = platform.kubectl(environment, ["create", "-f", "-"]);
    command
        .stdin(object.to_string())
        .output()
        .await
        .expect("kubectl runs")
}

async fn change(
    platform: &Platform,
    environment: &str,
    object: &Value,
    patch: &Value,
    subresource: Option<&str>,
) -> Output {
    let mut command = platform
        .kubectl(environment, ["patch", "--type=merge", "-p"])
        .arg(patch.to_string())
        .args(named(object));
    if let Some(subresource) = subresource {
        command = command.arg(format!("--subresource={subresource}"));
    }
    command.output().await.expect("kubectl runs")
}

async fn compare(platform: &Platform, environment: &str, case: &Case) -> Result<(), String> {
    for (path, expected) in &case.then {
        let command = platform
            .kubectl(environment, ["get"])
            .args(named(&case.create))
            .args(["-o", &format!("jsonpath={{{path}}}")]);
        let found = command.run().await.map_err(|error| error.to_string())?;
        if found.stdout.trim() != expected {
            return Err(format!(
                "{path} is `{}`, not `{expected}`",
                found.stdout.trim()
            ));
        }
    }
    Ok(())
}

/// The arguments that name an object to kubectl.
fn named(object: &Value) -> Vec<String> {
    let text = |path: &str| {
        object
            .pointer(path)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let group = text("/apiVersion").unwrap_or_default();
    let group = group.split('/').next().unwrap_or_default();
    let kind = text("/kind").unwrap_or_default();
    let mut arguments = vec![
        format!("{}.{group}", kind.to_lowercase()),
        text("/metadata/name").unwrap_or_default(),
    ];
    if let Some(namespace) = text("/metadata/namespace") {
        arguments.extend(["-n".to_owned(), namespace]);
    }
    arguments
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}
