//! A request held against the levels of a topology: at which level it is to be placed, in slices of which sizes. Section 4.14, "Level resolution".

use super::failure::Reason;
use super::request::{PodSetRequest, SliceConstraint, TopologyRequest};
use super::tree::Tree;

/// What a search looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) count: i64,
    /// None or one.
    pub(super) leaders: i64,
    /// Pods of a slice of the outermost layer.
    pub(super) size: i64,
    pub(super) level: usize,
    pub(super) slice_level: usize,
    /// The size of inner slices by level; zero where there are none.
    pub(super) inner: Vec<i64>,
    /// All layers if there are inner ones, else empty.
    pub(super) layers: Vec<SliceConstraint>,
    pub(super) required: bool,
    pub(super) unconstrained: bool,
}

impl Needs {
    pub(super) fn of(request: &PodSetRequest, leaders: i64, tree: &Tree) -> Result<Self, Reason> {
        let asked = &request.request;
        let size = slice_size(asked)?;
        let key = level_key(request, tree).ok_or(Reason::LevelUnspecified)?;
        let level = tree
            .level(key)
            .ok_or_else(|| Reason::NoLevel(key.to_owned()))?;
        let outermost = asked.slices.first();
        let slice_key = outermost.map(|slice| slice.level.as_str());
        let slice_key = slice_key.or(tree.levels().last().map(String::as_str));
        let slice_key = slice_key.unwrap_or_default();
        let slice_level = tree
            .level(slice_key)
            .ok_or_else(|| Reason::NoSliceLevel(slice_key.to_owned()))?;
        if level > slice_level {
            return Err(Reason::SliceAbovePodSet {
                slice: slice_key.to_owned(),
                pod_set: key.to_owned(),
            });
        }
        let inner = inner_sizes(asked, size, slice_level, tree)?;
        let layered = inner.iter().any(|size| *size > 0);
        Ok(Self {
            count: request.count,
            leaders,
            size,
            level,
            slice_level,
            inner,
            layers: if layered {
                asked.slices.clone()
            } else {
                Vec::new()
            },
            required: asked.required.is_some(),
            unconstrained: asked.unconstrained == Some(true)
                || request.implied
                || only_slices(asked),
        })
    }

    /// How many slices of the outermost layer.
    pub(super) fn slices(&self) -> i64 {
        self.count / self.size
    }
}

/// Pods of a slice; one if there are no slices.
pub(super) fn slice_size(asked: &TopologyRequest) -> Result<i64, Reason> {
    match asked.slices.first() {
        None => Ok(1),
        Some(slice) if slice.size <= 0 => Err(Reason::NoSliceSize),
        Some(slice) => Ok(slice.size),
    }
}

fn only_slices(asked: &TopologyRequest) -> bool {
    asked.required.is_none() && asked.preferred.is_none() && !asked.slices.is_empty()
}

/// The level all pods are to share a domain of.
pub(super) fn level_key<'a>(request: &'a PodSetRequest, tree: &'a Tree) -> Option<&'a str> {
    let asked = &request.request;
    let named = asked.required.as_ref().or(asked.preferred.as_ref());
    let named = named.or_else(|| tree.levels().first().filter(|_| only_slices(asked)));
    let anywhere = asked.unconstrained == Some(true) || request.implied;
    let named = named.or_else(|| tree.levels().last().filter(|_| anywhere));
    named.map(String::as_str)
}

/// The inner layers' sizes by level. Levels between two layers go by the lower one, so that they too are filled in its multiples.
fn inner_sizes(
    asked: &TopologyRequest,
    size: i64,
    slice_level: usize,
    tree: &Tree,
) -> Result<Vec<i64>, Reason> {
    let mut sizes = vec![0; tree.levels().len()];
    let (mut parent_size, mut parent_level) = (size, slice_level);
    for layer in asked.slices.iter().skip(1) {
        let level = tree
            .level(&layer.level)
            .ok_or_else(|| Reason::NoLayerLevel(layer.level.clone()))?;
        if level <= parent_level {
            return Err(Reason::LayerNotLower {
                layer: layer.level.clone(),
                parent: tree.levels()[parent_level].clone(),
            });
        }
        if layer.size <= 0 || parent_size % layer.size != 0 {
            return Err(Reason::LayerUneven {
                size: layer.size,
                parent: parent_size,
            });
        }
        sizes[parent_level + 1..=level].fill(layer.size);
        (parent_size, parent_level) = (layer.size, level);
    }
    Ok(sizes)
}
