//! A profile as it is written: every value keeps its place in the file, nothing is checked yet.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use super::{Problem, Title};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawProfile {
    pub(super) name: Spanned<String>,
    pub(super) title: Title,
    #[serde(default)]
    pub(super) namespaces: Vec<Spanned<String>>,
    pub(super) pools: Spanned<Vec<RawPool>>,
}

/// Nodes that are alike; they are called `<name>-1`, `<name>-2`….
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPool {
    pub(super) name: Spanned<String>,
    pub(super) count: Spanned<u32>,
    pub(super) capacity: Spanned<BTreeMap<String, Spanned<String>>>,
    /// Whether these nodes run real pods where the provider has real kubelets. Their CPU and memory then are the machine's.
    #[serde(default)]
    pub(super) containers: bool,
    #[serde(default)]
    pub(super) gpu: Option<RawGpu>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub(super) taints: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) zone: Option<Spanned<String>>,
    /// Racks, dealt out to the nodes one after the other.
    #[serde(default)]
    pub(super) racks: Vec<Spanned<String>>,
}

/// Devices of one model; labels, taint and capacity follow from it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGpu {
    pub(super) model: Spanned<String>,
    pub(super) count: Spanned<u32>,
    /// How many containers may share each device by time-slicing.
    #[serde(default)]
    pub(super) replicas: Option<Spanned<u32>>,
}

/// Reads the text; the first thing that is not YAML of this shape is the error.
pub(super) fn read(text: &str) -> Result<RawProfile, Problem> {
    serde_saphyr::from_str(text).map_err(|error| {
        let what = error.without_snippet().to_string();
        match error.location() {
            Some(place) => problem(place, what),
            None => Problem {
                line: 1,
                column: 1,
                what,
            },
        }
    })
}

/// A mistake at a place of the file.
pub(super) fn problem(place: Location, what: String) -> Problem {
    Problem {
        line: place.line(),
        column: place.column(),
        what,
    }
}
