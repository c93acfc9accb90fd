//! `submit`: a workload with its pod sets.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec, ResourceRequirements};
use kueue_api::v1beta2 as api;

use super::objects::{named_in, toleration};
use super::words::{Words, level, resource};
use super::{Clause, Problem};

const IN_A_JOB: &str = "pods such as `4 pods of gpu 1`, or at, priority, on, tolerates, required, preferred, unconstrained, slices, group or for";

/// `submit NAME to QUEUE` and its settings: the object, and how long it runs once it was admitted.
pub(super) fn submit(
    head: &mut Words<'_>,
    settings: &[Clause],
) -> Result<(api::Workload, Option<SignedDuration>), Problem> {
    let name = head.word("a name")?;
    head.expect("to")?;
    let target = head.word("a queue")?;
    head.end()?;
    let (namespace, queue) = target.split_once('/').unwrap_or(("default", target));
    let mut workload = api::Workload::named(name);
    workload.metadata = named_in(namespace, name);
    workload.spec.queue_name = Some(queue.to_owned());
    let mut runs = None;
    for clause in settings {
        let mut words = Words::of(clause);
        let first = words.word(IN_A_JOB)?;
        match first {
            "priority" => workload.spec.priority = Some(words.read("a number")?),
            "for" => runs = Some(words.read("a duration such as 30s")?),
            _ if begins_pods(first) => workload.spec.pod_sets.push(pods(first, &mut words)?),
            setting => {
                let Some(pod_set) = workload.spec.pod_sets.last_mut() else {
                    return Err(words.problem(format!("expected {IN_A_JOB}, found `{first}`")));
                };
                refine(pod_set, setting, &mut words)?;
            }
        }
        words.end()?;
    }
    if workload.spec.pod_sets.is_empty() {
        return Err(head.problem(format!("{name} has no pods: add `, 1 pod of gpu 1`")));
    }
    Ok((workload, runs))
}

fn begins_pods(word: &str) -> bool {
    word.ends_with(':') || word.parse::<u32>().is_ok()
}

/// `[NAME:] N pods [of RESOURCE AMOUNT…]`.
fn pods(first: &str, words: &mut Words<'_>) -> Result<api::PodSet, Problem> {
    let (name, count) = match first.strip_suffix(':') {
        Some(name) => (name, words.read("a number of pods")?),
        None => ("main", first.parse().unwrap_or_default()),
    };
    words.one_of(&[("pod", ()), ("pods", ())])?;
    let mut requests = BTreeMap::new();
    if words.accept("of") {
        let mut next = words.word("a resource such as gpu or cpu")?;
        loop {
            requests.insert(resource(next), words.quantity("an amount")?);
            match words.next() {
                Some(word) => next = word,
                None => break,
            }
        }
    }
    let container = Container {
        name: "main".to_owned(),
        resources: Some(ResourceRequirements {
            requests: Some(requests),
            ..ResourceRequirements::default()
        }),
        ..Container::default()
    };
    let spec = PodSpec {
        containers: vec![container],
        ..PodSpec::default()
    };
    Ok(api::PodSet {
        name: name.to_owned(),
        count,
        template: PodTemplateSpec {
            spec: Some(spec),
            ..PodTemplateSpec::default()
        },
        ..api::PodSet::default()
    })
}

fn refine(pod_set: &mut api::PodSet, setting: &str, words: &mut Words<'_>) -> Result<(), Problem> {
    let pod = pod_set.template.spec.get_or_insert_default();
    let topology = &mut pod_set.topology_request;
    match setting {
        "at" => {
            words.expect("least")?;
            pod_set.min_count = Some(words.read("a number of pods")?);
        }
        "on" => pod
            .node_selector
            .get_or_insert_default()
            .extend([words.pair("a label")?]),
        "tolerates" => pod
            .tolerations
            .get_or_insert_default()
            .push(toleration(words.word("a taint's key")?)),
        "required" => {
            topology.get_or_insert_default().required = Some(level(words.word("a level")?));
        }
        "preferred" => {
            topology.get_or_insert_default().preferred = Some(level(words.word("a level")?));
        }
        "unconstrained" => topology.get_or_insert_default().unconstrained = Some(true),
        "slices" => {
            words.expect("of")?;
            let request = topology.get_or_insert_default();
            request.pod_set_slice_size = Some(words.read("a number of pods")?);
            words.expect("per")?;
            request.pod_set_slice_required_topology = Some(level(words.word("a level")?));
        }
        "group" => {
            topology.get_or_insert_default().pod_set_group_name =
                Some(words.word("the name of a group")?.to_owned());
        }
        other => return Err(words.problem(format!("expected {IN_A_JOB}, found `{other}`"))),
    }
    Ok(())
}
