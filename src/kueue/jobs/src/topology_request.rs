//! What the annotations of a pod template say about where its pods should be placed. Takes metadata, gives the request that the Workload
//! carries. Reference section 5.1 (annotations) and 1.11 (`topologyRequest`).

use std::collections::BTreeMap;
use std::str::FromStr;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::names::annotations;
use kueue_api::v1beta2::{PodSetTopologyRequest, SliceTopologyConstraint};

use crate::error::JobError;

/// Most layers of slices inside each other.
pub(crate) const MOST_LAYERS: usize = 3;

/// How the pods of a kind are numbered, so that ranks can be placed next to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// The label that holds a pod's number.
    pub pod_index_label: Option<&'static str>,
    /// The label that holds the number of a pod's group, and how many groups there are.
    pub sub_groups: Option<(&'static str, i32)>,
}

/// The request of one pod template; none if nothing is asked for and the pods have no numbers.
pub fn of(
    meta: Option<&ObjectMeta>,
    ranks: &Ranks,
) -> Result<Option<PodSetTopologyRequest>, JobError> {
    let none = BTreeMap::new();
    let notes = meta
        .and_then(|meta| meta.annotations.as_ref())
        .unwrap_or(&none);
    let mut request = PodSetTopologyRequest {
        pod_index_label: ranks.pod_index_label.map(str::to_owned),
        sub_group_index_label: ranks.sub_groups.map(|(label, _)| label.to_owned()),
        sub_group_count: ranks.sub_groups.map(|(_, count)| count),
        ..PodSetTopologyRequest::default()
    };
    let text = |key: &str| notes.get(key).filter(|text| !text.is_empty()).cloned();
    request.required = text(annotations::POD_SET_REQUIRED_TOPOLOGY);
    if request.required.is_none() {
        request.preferred = text(annotations::POD_SET_PREFERRED_TOPOLOGY);
    }
    if request.required.is_none() && request.preferred.is_none() {
        request.unconstrained = parsed(notes, annotations::POD_SET_UNCONSTRAINED_TOPOLOGY)?;
    }
    if request.required.is_some() || request.preferred.is_some() {
        request.pod_set_group_name = text(annotations::POD_SET_GROUP_NAME);
    }
    slices(notes, &mut request)?;
    Ok((request != PodSetTopologyRequest::default()).then_some(request))
}

fn slices(
    notes: &BTreeMap<String, String>,
    request: &mut PodSetTopologyRequest,
) -> Result<(), JobError> {
    if let Some(layers) = layers(notes) {
        request.podset_slice_required_topology_constraints = layers?;
        return Ok(());
    }
    let topology = notes.get(annotations::POD_SET_SLICE_REQUIRED_TOPOLOGY);
    let size: Option<i32> = parsed(notes, annotations::POD_SET_SLICE_SIZE)?;
    // One without the other is refused when the job is created; here it means nothing.
    if let (Some(topology), Some(size)) = (topology, size) {
        request.pod_set_slice_required_topology = Some(topology.clone());
        request.pod_set_slice_size = Some(size);
    }
    Ok(())
}

/// The layers of slices, if the annotation is there.
pub(crate) fn layers(
    notes: &BTreeMap<String, String>,
) -> Option<Result<Vec<SliceTopologyConstraint>, JobError>> {
    let text = notes.get(annotations::POD_SET_SLICE_CONSTRAINTS)?;
    let read = serde_json::from_str::<Vec<SliceTopologyConstraint>>(text);
    let wrong = |wanted| {
        Err(JobError::Value {
            place: place(annotations::POD_SET_SLICE_CONSTRAINTS),
            value: text.clone(),
            wanted,
        })
    };
    Some(match read {
        Err(_) => wrong("is not a JSON list of {topology, size}"),
        Ok(layers) if layers.is_empty() || layers.len() > MOST_LAYERS => {
            wrong("must contain between 1 and 3 entries")
        }
        Ok(layers) => Ok(layers),
    })
}

fn parsed<T: FromStr>(
    notes: &BTreeMap<String, String>,
    key: &'static str,
) -> Result<Option<T>, JobError> {
    let Some(text) = notes.get(key) else {
        return Ok(None);
    };
    let wrong = |_| JobError::Value {
        place: place(key),
        value: text.clone(),
        wanted: "cannot be read",
    };
    text.parse().map(Some).map_err(wrong)
}

fn place(key: &str) -> String {
    format!("metadata.annotations[{key}]")
}
