//! The generated definitions: fresh, and equal in structure to what section 1 of the reference describes. What an API server does
//! with them is in `api-server-cases.yaml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../manifests/kueue/crds")
}

/// The written definition of a kind, read once: the tables look at each many times.
fn definition(plural: &str) -> &'static Value {
    static READ: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    let all = READ.get_or_init(|| {
        let entries = std::fs::read_dir(folder())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let definitions = entries.map(|path| {
            serde_saphyr::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()
        });
        definitions
            .map(|d| (d["spec"]["names"]["plural"].as_str().unwrap().to_owned(), d))
            .collect()
    });
    all.get(plural)
        .unwrap_or_else(|| panic!("no definition of {plural} in {}", folder().display()))
}

/// `spec.resourceGroups[].flavors{}`: `[]` goes into a list, `{}` into the values of a map.
fn at<'a>(schema: &'a Value, path: &str) -> &'a Value {
    let mut at = schema;
    for name in path.split('.').filter(|name| !name.is_empty()) {
        let bare = name.trim_end_matches("[]").trim_end_matches("{}");
        at = &at["properties"][bare];
        if name.ends_with("[]") {
            at = &at["items"];
        } else if name.ends_with("{}") {
            at = &at["additionalProperties"];
        }
    }
    at
}

fn schema(definition: &Value) -> &Value {
    &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

#[test]
fn the_written_files_are_fresh() {
    let fresh = tempfile::tempdir().unwrap();
    crdgen(fresh.path());
    for entry in std::fs::read_dir(fresh.path()).unwrap() {
        let entry = entry.unwrap();
        let written = std::fs::read_to_string(folder().join(entry.file_name())).unwrap_or_default();
        let fresh = std::fs::read_to_string(entry.path()).unwrap();
        assert!(
            written == fresh,
            "{:?} is stale: run `cargo run -p kueue-api --bin crdgen`",
            entry.file_name()
        );
    }
    let count = |path: &Path| std::fs::read_dir(path).unwrap().count();
    assert_eq!(count(fresh.path()), 11);
    assert_eq!(
        count(&folder()),
        11,
        "a file in {} that nobody generates",
        folder().display()
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "the generator is the program under test, and this crate may not know `exec`"
)]
fn crdgen(folder: &Path) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_crdgen"))
        .arg(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn kinds_are_served_as_the_reference_serves_them() {
    for line in include_str!("crd-kinds.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let [plural, kind, scope, short_names, status, columns] =
            line.split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        let definition = definition(plural);
        let spec = &definition["spec"];
        let names = &spec["names"];
        assert_eq!(
            (&spec["group"], &names["kind"], &spec["scope"]),
            (&json!("kueue.x-k8s.io"), &json!(kind), &json!(scope)),
            "{plural}"
        );
        assert_eq!(
            names["shortNames"],
            json!(short_names.split(' ').collect::<Vec<_>>()),
            "{plural}"
        );
        let [version, older] = &spec["versions"].as_array().unwrap()[..] else {
            panic!("{plural}: versions")
        };
        let served = (&older["name"], &older["served"], &older["storage"]);
        assert_eq!(served, (&json!("v1beta1"), &json!(true), &json!(false)));
        let wanted = (&json!("v1beta2"), &json!(true), &json!(true));
        assert_eq!(
            (&version["name"], &version["served"], &version["storage"]),
            wanted,
            "{plural}"
        );
        assert_eq!(
            version["subresources"]["status"].is_object(),
            status == "yes",
            "{plural}"
        );
        assert_eq!(columns_of(version), columns, "{plural}");
    }
    assert_eq!(
        definition("workloads")["spec"]["versions"][0]["selectableFields"],
        json!([{"jsonPath": ".status.admission.clusterQueue"}])
    );
}

/// `Name=path`, with `+` for a column that only wide output shows.
fn columns_of(version: &Value) -> String {
    let columns = version["additionalPrinterColumns"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let text = |c: &Value| {
        format!(
            "{}={}{}",
            c["name"].as_str().unwrap(),
            c["jsonPath"].as_str().unwrap(),
            if c["priority"] == 1 { "+" } else { "" }
        )
    };
    columns.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Kinds whose versions differ are converted by our webhook; the others need nobody.
#[test]
fn versions_that_differ_are_converted() {
    use kueue_api::names::CONVERTED_DEFINITIONS;
    let mut differ = Vec::new();
    for name in CONVERTED_DEFINITIONS {
        let spec = &definition(name.split('.').next().unwrap())["spec"];
        assert_eq!(
            spec["conversion"]["webhook"]["clientConfig"]["service"],
            json!({"name": "kueue-webhook-service", "namespace": "kueue-system", "path": "/convert"}),
            "{name}"
        );
    }
    for plural in [
        "resourceflavors",
        "workloadpriorityclasses",
        "topologies",
        "provisioningrequestconfigs",
    ] {
        let spec = definition(plural)["spec"].clone();
        assert_eq!(spec["conversion"], json!({"strategy": "None"}), "{plural}");
        let mut schemas = [0, 1].map(|i| spec["versions"][i]["schema"]["openAPIV3Schema"].clone());
        for schema in &mut schemas {
            schema["properties"]["apiVersion"] = Value::Null;
        }
        if schemas[0] != schemas[1] {
            differ.push(plural);
        }
    }
    assert!(differ.is_empty(), "{differ:?}");
}

/// Everything the older schema allows is what the converter makes of the present one, and the other way round.
#[test]
fn what_is_converted_fits_the_other_versions_schema() {
    use kueue_api::conversion::{Version, convert};
    for name in kueue_api::names::CONVERTED_DEFINITIONS {
        let spec = &definition(name.split('.').next().unwrap())["spec"];
        let kind = spec["names"]["kind"].as_str().unwrap();
        let schema = |i: usize| spec["versions"][i]["schema"]["openAPIV3Schema"].clone();
        for (from, to, version) in [(0, 1, Version::V1Beta1), (1, 0, Version::V1Beta2)] {
            let mut object = example(&schema(from), "");
            object["kind"] = json!(kind);
            let from = if from == 0 {
                Version::V1Beta2
            } else {
                Version::V1Beta1
            };
            object["apiVersion"] = json!(format!("kueue.x-k8s.io/{}", from.as_str()));
            if let Some(slices) = object.pointer_mut(
                "/status/admission/podSetAssignments/0/topologyAssignment/slices/0/podCounts",
            ) {
                *slices = json!({"universal": 1});
            }
            convert(&mut object, version).unwrap();
            let mut unknown = Vec::new();
            strange(&schema(to), &object, "", &mut unknown);
            assert!(
                unknown.is_empty(),
                "{kind} as {}: {unknown:?}",
                version.as_str()
            );
        }
    }
}

/// Fields of an object that a schema does not know, and those it requires and that are missing.
fn strange(schema: &Value, object: &Value, at: &str, unknown: &mut Vec<String>) {
    match object {
        Value::Object(fields) if schema["properties"].is_object() => {
            for (name, value) in fields {
                match schema["properties"].get(name) {
                    Some(schema) => strange(schema, value, &format!("{at}.{name}"), unknown),
                    None => unknown.push(format!("{at}.{name}")),
                }
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                if fields.get(name.as_str().unwrap()).is_none() {
                    unknown.push(format!("{at}.{name} is missing"));
                }
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| strange(&schema["items"], item, &format!("{at}[]"), unknown)),
        _ => {}
    }
}

/// Limits, enumerations, defaults and list kinds of the reference, one a line: kind, path, keyword, value.
#[test]
fn fields_have_the_limits_of_the_reference() {
    let mut wrong = Vec::new();
    for line in include_str!("crd-fields.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let [plural, path, keyword, want] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let definition = definition(plural);
        let found = &at(schema(definition), path.trim_start_matches('.'))[keyword];
        if *found != serde_json::from_str::<Value>(want).unwrap() {
            wrong.push(format!(
                "{plural} {path} {keyword}: want {want}, found {found}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where each rule stands and what it says, one a line: kind, path, message.
#[test]
fn rules_say_what_the_reference_says() {
    for line in include_str!("crd-rules.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let [plural, path, message] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let definition = definition(plural);
        let rules =
            &at(schema(definition), path.trim_start_matches('.'))["x-kubernetes-validations"];
        let found = rules
            .as_array()
            .into_iter()
            .flatten()
            .any(|rule| rule["message"] == message);
        assert!(found, "{plural} {path}: no rule says {message:?}");
    }
}

/// No field of a definition is unknown to the wire types: what the API server keeps, the controller can read.
#[test]
fn the_wire_types_know_every_field() {
    use kueue_api::v1beta2::{
        ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, Workload,
    };
    fn check<T: serde::de::DeserializeOwned + serde::Serialize>(plural: &str) {
        let definition = definition(plural);
        let full = example(schema(definition), "");
        let read: T = serde_json::from_value(full.clone())
            .unwrap_or_else(|error| panic!("{plural}: {error}\n{full}"));
        let mut missing = Vec::new();
        lost(
            &full,
            &serde_json::to_value(read).unwrap(),
            plural,
            &mut missing,
        );
        assert!(
            missing.is_empty(),
            "fields the wire types do not know: {missing:?}"
        );
    }
    check::<ClusterQueue>("clusterqueues");
    check::<Cohort>("cohorts");
    check::<LocalQueue>("localqueues");
    check::<ResourceFlavor>("resourceflavors");
    check::<Workload>("workloads");
    check::<Topology>("topologies");
    check::<kueue_api::v1beta2::AdmissionCheck>("admissionchecks");
    check::<kueue_api::v1beta2::WorkloadPriorityClass>("workloadpriorityclasses");
    check::<kueue_api::v1beta2::ProvisioningRequestConfig>("provisioningrequestconfigs");
    check::<kueue_api::v1beta2::MultiKueueConfig>("multikueueconfigs");
    check::<kueue_api::v1beta2::MultiKueueCluster>("multikueueclusters");
}

/// An object with every field of a schema.
fn example(schema: &Value, name: &str) -> Value {
    if let Some(values) = schema["enum"].as_array() {
        return values[0].clone();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return json!("1");
    }
    match schema["type"].as_str() {
        Some("array") => json!([example(&schema["items"], "")]),
        Some("boolean") => json!(true),
        Some("integer") => json!(1),
        Some("string") if schema["format"] == "date-time" => json!("2026-08-22T12:00:00Z"),
        Some("string") => json!("x"),
        _ if schema["additionalProperties"].is_object() => {
            json!({"k": example(&schema["additionalProperties"], "")})
        }
        _ if name == "metadata" && schema["properties"].is_null() => json!({"name": "x"}),
        _ if schema["x-kubernetes-preserve-unknown-fields"] == true => {
            json!({"containers": [{"name": "c"}]})
        }
        _ => Value::Object(
            schema["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, s)| (name.clone(), example(s, name)))
                .collect(),
        ),
    }
}

fn lost(written: &Value, read: &Value, at: &str, missing: &mut Vec<String>) {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => {
            for (name, value) in written
                .iter()
                .filter(|(name, _)| !["apiVersion", "kind"].contains(&name.as_str()))
            {
                match read.get(name) {
                    Some(found) => lost(value, found, &format!("{at}.{name}"), missing),
                    None => missing.push(format!("{at}.{name}")),
                }
            }
        }
        (Value::Array(written), Value::Array(read)) => {
            written
                .iter()
                .zip(read)
                .for_each(|(written, read)| lost(written, read, &format!("{at}[]"), missing));
        }
        _ => {}
    }
}
