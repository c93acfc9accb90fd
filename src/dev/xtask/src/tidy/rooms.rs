//! Directions between rooms: I/O knows meaning, never back; the two products meet only in `atelier`.

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, Metadata, Package};

/// Each room and the rooms that it may know. A new arrow needs a decision record in `src/decisions/`.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("quantity", &[]),
    ("scheduler", &["quantity"]),
    (
        "simulator",
        &["scheduler", "quantity", "cache", "kueue-api"],
    ),
    ("kueue-api", &["quantity"]),
    ("cache", &["scheduler", "kueue-api", "quantity"]),
    ("jobs", &["kueue-api", "quantity"]),
    (
        "controllers",
        &[
            "cache",
            "jobs",
            "scheduler",
            "kueue-api",
            "quantity",
            "telemetry",
            "webhooks",
        ],
    ),
    (
        "webhooks",
        &["kueue-api", "jobs", "cache", "telemetry", "quantity"],
    ),
    (
        "kueue-manager",
        &[
            "controllers",
            "webhooks",
            "cache",
            "jobs",
            "scheduler",
            "kueue-api",
            "quantity",
            "telemetry",
        ],
    ),
    ("course", &[]),
    ("timeline", &["course"]),
    ("exec", &[]),
    ("clusters", &["exec", "gpu"]),
    ("gpu", &[]),
    ("store", &["timeline", "course"]),
    (
        "atelier",
        &[
            "course",
            "timeline",
            "exec",
            "clusters",
            "gpu",
            "store",
            "kueue-api",
            "simulator",
            "telemetry",
        ],
    ),
    ("telemetry", &[]),
    ("testkit", ANY),
    ("conformance", ANY),
    ("e2e", ANY),
    ("trials", ANY),
    ("chaos", ANY),
    ("xtask", &[]),
];
const ANY: &[&str] = &["*"];

/// Rooms without I/O, and the outside crates that they may use.
const PURE: &[&str] = &["quantity", "scheduler", "simulator", "course", "timeline"];
const PURE_MAY_USE: &[&str] = &[
    "thiserror",
    "itertools",
    "indexmap",
    "smallvec",
    "jiff",
    "serde",
    "serde_json",
    "serde-saphyr",
    "comrak",
    "ammonia",
    "fluent-bundle",
    "unic-langid",
    "cel",
    "regex",
];
/// What a pure room may use besides: wire types are values too, and a binary reads its options.
const PURE_MAY_ALSO_USE: &[(&str, &[&str])] = &[("simulator", &["k8s-openapi", "clap"])];

/// Outside crates that only some rooms may use.
const RESERVED: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("askama", &["atelier"]),
    (
        "clap",
        &[
            "kueue-manager",
            "atelier",
            "clusters",
            "exec",
            "gpu",
            "kueue-api",
            "simulator",
            "xtask",
            "conformance",
            "trials",
            "chaos",
        ],
    ),
    ("portable-pty", &["exec"]),
    ("fantoccini", &["e2e"]),
];

/// Rooms that may hold a `kube::Client`.
pub(super) const CLIENTS: &[&str] = &[
    "controllers",
    "kueue-manager",
    "atelier",
    "clusters",
    "testkit",
    "e2e",
    "trials",
    "chaos",
];

pub(super) fn check(metadata: &Metadata) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = MAY_KNOW.iter().copied().collect();
    let members = metadata.workspace_packages();
    let names: Vec<&str> = members
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut problems = Vec::new();
    for package in &members {
        let room = package.name.as_str();
        let Some(may_know) = allowed.get(room) else {
            problems.push(format!(
                "room `{room}` is not on the map in src/dev/xtask/src/tidy/rooms.rs"
            ));
            continue;
        };
        problems.extend(arrows(package, may_know, &names));
    }
    problems
}

fn arrows(package: &Package, may_know: &[&str], rooms: &[&str]) -> Vec<String> {
    let room = package.name.as_str();
    let mut problems = Vec::new();
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        let in_tests = dependency.kind == DependencyKind::Development;
        if rooms.contains(&name) {
            let known =
                may_know.contains(&name) || may_know == ANY || (in_tests && name == "testkit");
            if !known {
                problems.push(format!("room `{room}` may not know room `{name}` (src/ARCHITECTURE.md, direction of rooms)"));
            }
            if name == "testkit" && !in_tests && room != "e2e" {
                problems.push(format!("room `{room}` uses `testkit` outside of its tests"));
            }
            continue;
        }
        if PURE.contains(&room)
            && dependency.kind == DependencyKind::Normal
            && !PURE_MAY_USE.contains(&name)
            && !may_also_use(room, name)
        {
            problems.push(format!("pure room `{room}` may not use `{name}`"));
        }
        let reserved = RESERVED.iter().find(|(reserved, _)| *reserved == name);
        if let Some((_, owners)) = reserved
            && !owners.contains(&room)
            && !in_tests
        {
            problems.push(format!(
                "`{name}` is reserved for {owners:?}, but room `{room}` uses it"
            ));
        }
    }
    problems
}

fn may_also_use(room: &str, name: &str) -> bool {
    PURE_MAY_ALSO_USE
        .iter()
        .any(|(pure, extra)| *pure == room && extra.contains(&name))
}
