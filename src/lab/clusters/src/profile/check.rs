//! From what is written to what is meant: names, labels, quantities and taints are checked as the API server would,
//! so that a profile with nonsense is refused before anything starts.

use gpu::config::{MOST_DEVICES, MOST_REPLICAS, NodeGpus};
use std::collections::{BTreeMap, BTreeSet};

use serde_saphyr::Spanned;

use super::raw::{RawGpu, RawPool, RawProfile, problem};
use super::{
    NodeSpec, Problem, Profile, ProfileName, RACK_LABEL, TaintEffect, TaintSpec, ZONE_LABEL,
};

/// More simulated nodes than this in one profile is a mistake, not a course.
const MOST_NODES: u32 = 200;

/// Mistakes found so far.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn at<T>(&mut self, place: &Spanned<T>, what: impl Into<String>) {
        self.0.push(problem(place.referenced, what.into()));
    }
}

/// Checks the whole profile; `stem` is the name of its file.
pub(super) fn profile(stem: &str, raw: RawProfile) -> Result<Profile, Vec<Problem>> {
    let RawProfile {
        name,
        title,
        namespaces,
        pools,
    } = raw;
    let mut problems = Problems::default();
    if name.value != stem {
        problems.at(
            &name,
            format!(
                "name `{}` must be the name of the file, `{stem}`",
                name.value
            ),
        );
    }
    if !is_dns_label(&name.value) {
        problems.at(
            &name,
            format!(
                "name `{}` must be lower-case letters, digits and `-`",
                name.value
            ),
        );
    }
    for namespace in namespaces
        .iter()
        .filter(|namespace| !is_dns_label(&namespace.value))
    {
        problems.at(
            namespace,
            format!(
                "namespace `{}` must be lower-case letters, digits and `-`",
                namespace.value
            ),
        );
    }
    if pools.value.is_empty() {
        problems.at(&pools, "a profile needs at least one pool of nodes");
    }
    let mut names = BTreeSet::new();
    let mut nodes = Vec::new();
    for pool in &pools.value {
        if !names.insert(pool.name.value.clone()) {
            problems.at(
                &pool.name,
                format!(
                    "pool `{}` is there twice; give it another name",
                    pool.name.value
                ),
            );
        }
        nodes.extend(pool_nodes(pool, &mut problems));
    }
    if problems.0.is_empty() {
        let namespaces = namespaces
            .into_iter()
            .map(|namespace| namespace.value)
            .collect();
        Ok(Profile {
            name: ProfileName(name.value),
            title,
            namespaces,
            nodes,
        })
    } else {
        Err(problems.0)
    }
}

fn pool_nodes(pool: &RawPool, problems: &mut Problems) -> Vec<NodeSpec> {
    if !is_dns_label(&pool.name.value) {
        problems.at(
            &pool.name,
            format!(
                "pool name `{}` must be lower-case letters, digits and `-`",
                pool.name.value
            ),
        );
    }
    if pool.count.value == 0 || pool.count.value > MOST_NODES {
        problems.at(
            &pool.count,
            format!(
                "count must be between 1 and {MOST_NODES}, not {}",
                pool.count.value
            ),
        );
        return Vec::new();
    }
    let mut capacity = capacity(pool, problems);
    let mut labels = labels(pool, problems);
    let mut taints: Vec<TaintSpec> = pool
        .taints
        .iter()
        .filter_map(|text| taint(text, problems))
        .collect();
    let mut gpus = None;
    if let Some(raw) = &pool.gpu {
        gpus = devices(raw, &mut capacity, &mut labels, problems);
        taints.extend(parse_taint(gpu::TAINT));
    }
    let node = |index: u32| {
        let name = format!("{}-{}", pool.name.value, index + 1);
        let mut labels = labels.clone();
        labels.insert("kubernetes.io/hostname".to_owned(), name.clone());
        if let Some(rack) = rack(pool, index) {
            labels.insert(RACK_LABEL.to_owned(), rack);
        }
        NodeSpec {
            name,
            labels,
            taints: taints.clone(),
            capacity: capacity.clone(),
            gpus: gpus.clone(),
            containers: pool.containers,
        }
    };
    (0..pool.count.value).map(node).collect()
}

fn rack(pool: &RawPool, index: u32) -> Option<String> {
    let racks = u32::try_from(pool.racks.len())
        .ok()
        .filter(|racks| *racks > 0)?;
    let place = usize::try_from(index % racks).ok()?;
    pool.racks.get(place).map(|rack| rack.value.clone())
}

fn capacity(pool: &RawPool, problems: &mut Problems) -> BTreeMap<String, String> {
    for needed in ["cpu", "memory"] {
        if !pool.capacity.value.contains_key(needed) {
            problems.at(
                &pool.capacity,
                format!("capacity of pool `{}` must say `{needed}`", pool.name.value),
            );
        }
    }
    let mut capacity = BTreeMap::from([("pods".to_owned(), "110".to_owned())]);
    for (resource, quantity) in &pool.capacity.value {
        if !is_qualified_name(resource) {
            problems.at(
                quantity,
                format!("`{resource}` is not the name of a resource"),
            );
        }
        if !is_quantity(&quantity.value) {
            problems.at(
                quantity,
                format!(
                    "`{}` of `{resource}` is not a quantity; write for example 8, 500m or 32Gi",
                    quantity.value
                ),
            );
        }
        capacity.insert(resource.clone(), quantity.value.clone());
    }
    capacity
}

fn labels(pool: &RawPool, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::from([
        ("kubernetes.io/arch".to_owned(), "amd64".to_owned()),
        ("kubernetes.io/os".to_owned(), "linux".to_owned()),
    ]);
    for (key, value) in &pool.labels {
        if !is_qualified_name(key) {
            problems.at(value, format!("`{key}` is not a label key"));
        }
        check_label_value(value, problems);
        labels.insert(key.clone(), value.value.clone());
    }
    for rack in &pool.racks {
        check_label_value(rack, problems);
    }
    if let Some(zone) = &pool.zone {
        check_label_value(zone, problems);
        labels.insert(ZONE_LABEL.to_owned(), zone.value.clone());
    }
    labels
}

fn check_label_value(value: &Spanned<String>, problems: &mut Problems) {
    if !is_label_value(&value.value) {
        problems.at(
            value,
            format!(
                "`{}` is not a label value: at most 63 letters, digits, `-`, `_` or `.`",
                value.value
            ),
        );
    }
}

fn devices(
    raw: &RawGpu,
    capacity: &mut BTreeMap<String, String>,
    labels: &mut BTreeMap<String, String>,
    problems: &mut Problems,
) -> Option<NodeGpus> {
    let Some(model) = gpu::model::find(&raw.model.value) else {
        let (asked, known) = (&raw.model.value, gpu::model::names());
        problems.at(
            &raw.model,
            format!("unknown GPU model `{asked}`; known are {known}"),
        );
        return None;
    };
    let count = raw.count.value;
    if count == 0 || count > MOST_DEVICES {
        problems.at(
            &raw.count,
            format!("a node has between 1 and {MOST_DEVICES} GPUs, not {count}"),
        );
    }
    let replicas = raw.replicas.as_ref().map_or(1, |replicas| replicas.value);
    if let Some(raw) = &raw.replicas
        && (replicas == 0 || replicas > MOST_REPLICAS)
    {
        problems.at(
            raw,
            format!("a GPU is shared by 1 to {MOST_REPLICAS} containers, not {replicas}"),
        );
    }
    let counted = count.saturating_mul(replicas);
    capacity.insert(gpu::RESOURCE.to_owned(), counted.to_string());
    let mut discovered = model.labels(count, replicas);
    discovered.append(labels);
    *labels = discovered;
    Some(NodeGpus {
        replicas,
        ..NodeGpus::new(model, count)
    })
}

fn taint(text: &Spanned<String>, problems: &mut Problems) -> Option<TaintSpec> {
    let taint = parse_taint(&text.value);
    if taint.is_none() {
        let what = "is not a taint; write key=value:NoSchedule (or PreferNoSchedule, NoExecute)";
        problems.at(text, format!("`{}` {what}", text.value));
    }
    taint
}

fn parse_taint(text: &str) -> Option<TaintSpec> {
    let (pair, effect) = text.rsplit_once(':')?;
    let effect = match effect {
        "NoSchedule" => TaintEffect::NoSchedule,
        "PreferNoSchedule" => TaintEffect::PreferNoSchedule,
        "NoExecute" => TaintEffect::NoExecute,
        _ => return None,
    };
    let (key, value) = match pair.split_once('=') {
        Some((key, value)) => (key, Some(value.to_owned())),
        None => (pair, None),
    };
    let sound = is_qualified_name(key) && value.as_deref().is_none_or(is_label_value);
    sound.then(|| TaintSpec {
        key: key.to_owned(),
        value,
        effect,
    })
}

fn is_dns_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=50).contains(&text.len())
        && text.chars().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_name_part(text)
}

fn is_name_part(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    (1..=63).contains(&text.len())
        && text.chars().all(inner)
        && edge(text.chars().next())
        && edge(text.chars().last())
}

fn is_qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => prefix.split('.').all(is_dns_label) && is_name_part(name),
        None => is_name_part(text),
    }
}

/// Non-negative numbers with the suffixes of Kubernetes quantities.
fn is_quantity(text: &str) -> bool {
    const SUFFIXES: [&str; 13] = [
        "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "m", "k", "M", "G", "T", "P", "E",
    ];
    let number = SUFFIXES
        .iter()
        .find_map(|suffix| text.strip_suffix(suffix))
        .unwrap_or(text);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    digits(whole) && digits(fraction)
}
