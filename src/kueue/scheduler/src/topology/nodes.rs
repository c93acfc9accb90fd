//! Which nodes pods may go to, and how much they like them: taints, node selector, required and preferred affinity. Nodes that differ in
//! nothing but their names are judged once.

use super::HOSTNAME;
use super::failure::Exclusions;
use super::request::{PodSetRequest, PreferredTerm};
use super::snapshot::Snapshot;
use super::tree::{Node, Tree};
use crate::labels::{NODE_NAME, NodeAffinity, Requirement, Taint, Toleration, untolerated};

/// What pods say about nodes.
pub(super) struct Filter<'a> {
    tree: &'a Tree,
    tolerations: [&'a [Toleration]; 2],
    nodes: &'a NodeAffinity,
    preferred: &'a [PreferredTerm],
    /// What was found about each kind of node so far; empty if every node has to be looked at.
    known: Vec<Option<Judgement<'a>>>,
}

/// What pods think of a node.
#[derive(Clone, Copy, Debug)]
enum Judgement<'a> {
    /// They may go there, and like it so much.
    Liked(i64),
    Tainted(&'a Taint),
    NotSelected,
    NotAdmitted,
}

impl<'a> Filter<'a> {
    pub(super) fn of(request: &'a PodSetRequest, snapshot: &'a Snapshot, liking: bool) -> Self {
        let preferred: &[PreferredTerm] = if liking {
            &request.preferred_nodes
        } else {
            &[]
        };
        let named = |requirement: &Requirement| [HOSTNAME, NODE_NAME].contains(&&*requirement.key);
        let terms = request.nodes.terms.iter().flatten();
        let wishes = preferred.iter().flat_map(|term| &term.requirements);
        let by_name =
            request.nodes.selector.contains_key(HOSTNAME) || terms.chain(wishes).any(named);
        Self {
            tree: &snapshot.tree,
            tolerations: [&request.tolerations, &snapshot.tolerations],
            nodes: &request.nodes,
            preferred,
            known: vec![None; if by_name { 0 } else { snapshot.tree.kinds() }],
        }
    }

    /// How much pods like a leaf, or `None` if they may not go there, which is counted. Leaves that are not nodes are all the same to them.
    pub(super) fn liking(&mut self, leaf: usize, excluded: &mut Exclusions) -> Option<i64> {
        let Some(node) = self.tree.node(leaf) else {
            return Some(0);
        };
        match self.judgement(node, self.tree.kind(leaf)) {
            Judgement::Liked(liking) => return Some(liking),
            Judgement::Tainted(taint) => excluded.taint(taint),
            Judgement::NotSelected => excluded.selector += 1,
            Judgement::NotAdmitted => excluded.affinity += 1,
        }
        None
    }

    fn judgement(&mut self, node: &'a Node, kind: Option<usize>) -> Judgement<'a> {
        let known = kind.filter(|kind| *kind < self.known.len());
        if let Some(judgement) = known.and_then(|kind| self.known[kind]) {
            return judgement;
        }
        let judgement = self.judge(node);
        if let Some(kind) = known {
            self.known[kind] = Some(judgement);
        }
        judgement
    }

    fn judge(&self, node: &'a Node) -> Judgement<'a> {
        if let Some(taint) = untolerated(&node.taints, &self.tolerations) {
            return Judgement::Tainted(taint);
        }
        if !self.nodes.selects(&node.labels) {
            return Judgement::NotSelected;
        }
        if !self.nodes.admits(&node.name, &node.labels) {
            return Judgement::NotAdmitted;
        }
        let holds = |term: &&PreferredTerm| {
            let mut requirements = term.requirements.iter();
            requirements.all(|requirement| requirement.matches(&node.labels))
        };
        let liked = self.preferred.iter().filter(holds);
        Judgement::Liked(liked.map(|term| term.weight).sum())
    }
}
