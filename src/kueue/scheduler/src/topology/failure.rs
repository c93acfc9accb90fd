//! Why pods could not be placed, as values. The texts are in `messages/topology.rs`.

use std::collections::BTreeMap;

use quantity::ResourceName;

use super::assignment::TopologyAssignment;
use crate::labels::Taint;
use crate::names::PodSetName;

/// A search that ended without a place for some pod set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which pod sets: one, or a leader and its workers.
    pub pod_sets: Vec<PodSetName>,
    /// Why.
    pub reason: Reason,
    /// What was placed before, in the order of the requests.
    pub placed: Vec<(PodSetName, TopologyAssignment)>,
}

/// Why a pod set could not be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It does not say where, and nothing is implied.
    LevelUnspecified,
    /// The topology has no such level.
    NoLevel(String),
    /// The topology has no such level, which slices ask for.
    NoSliceLevel(String),
    /// Slices would have to be wider than the whole pod set.
    SliceAbovePodSet {
        /// The level of the slices.
        slice: String,
        /// The level of the pod set.
        pod_set: String,
    },
    /// Slices without a size.
    NoSliceSize,
    /// The topology has no such level, which an inner layer of slices asks for.
    NoLayerLevel(String),
    /// An inner layer is not below the layer around it.
    LayerNotLower {
        /// The inner layer's level.
        layer: String,
        /// The level of the layer around it.
        parent: String,
    },
    /// An inner layer's size does not divide the size around it.
    LayerUneven {
        /// The inner layer's size.
        size: i64,
        /// The size of the layer around it.
        parent: i64,
    },
    /// No node has this level.
    NoDomains(String),
    /// The node cannot be replaced, because another domain of the workload is gone too.
    Stale(String),
    /// There is no other place for the pods of this node.
    NoReplacement(String),
    /// Not all pods, or slices, find room.
    DoesNotFit {
        /// The topology.
        topology: String,
        /// How many would.
        fitted: i64,
        /// How many have to.
        wanted: i64,
        /// Of what.
        unit: Unit,
        /// What kept nodes out.
        excluded: Box<Exclusions>,
    },
    /// Not all layers of slices find room.
    LayersDoNotFit {
        /// The topology.
        topology: String,
        /// How far each layer would get, from the outermost one.
        layers: Vec<LayerFit>,
        /// What kept nodes out.
        excluded: Box<Exclusions>,
    },
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Single pods.
    Pods,
    /// Groups of pods.
    Slices,
}

/// How many slices of one layer would fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerFit {
    /// The layer's level.
    pub level: String,
    /// How many would fit.
    pub fitted: i64,
    /// How many have to.
    pub wanted: i64,
}

/// How many nodes were left out, and for what.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Exclusions {
    /// Nodes looked at.
    pub nodes: usize,
    /// By the pods' node selector.
    pub selector: usize,
    /// By the pods' required node affinity.
    pub affinity: usize,
    /// Outside of the domain a replacement has to stay in.
    pub domain: usize,
    /// By a taint that is not tolerated.
    pub taints: Vec<(Taint, usize)>,
    /// Without room for a single pod: the resource that is shortest.
    pub resources: BTreeMap<ResourceName, usize>,
}

impl Exclusions {
    /// Whether any node was left out.
    #[must_use]
    pub fn any(&self) -> bool {
        self.selector > 0
            || self.affinity > 0
            || self.domain > 0
            || !self.taints.is_empty()
            || !self.resources.is_empty()
    }

    pub(super) fn taint(&mut self, taint: &Taint) {
        match self.taints.iter_mut().find(|(known, _)| known == taint) {
            Some((_, count)) => *count += 1,
            None => self.taints.push((taint.clone(), 1)),
        }
    }
}
