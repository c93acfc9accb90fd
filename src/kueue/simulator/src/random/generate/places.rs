//! Nodes in racks and blocks, small ones, that break, go and come back; and what jobs ask of them.

use std::fmt::Write as _;

use super::Plan;

impl Plan {
    pub(super) fn topology(&mut self) {
        let levels = ["bloc rack hostname", "rack hostname", "bloc rack"];
        let levels = self.chance.one(&levels);
        self.line(&format!("topology salle of {levels}"));
    }

    pub(super) fn all_nodes(&mut self) {
        self.nodes = self.chance.between(2, 8);
        for at in 0..self.nodes {
            self.node(at, "");
        }
    }

    /// Two nodes a rack, two racks a block.
    fn node(&mut self, at: usize, state: &str) {
        let (gpu, cpu) = (self.chance.between(1, 4), self.chance.between(2, 8));
        let (bloc, rack) = (at / 4, at / 2);
        self.line(&format!(
            "node n{at}, label bloc=b{bloc}, label rack=r{rack}, has gpu {gpu} cpu {cpu}{state}"
        ));
    }

    pub(super) fn about_a_node(&mut self) {
        let at = self.chance.below(self.nodes);
        match self.chance.below(6) {
            0 => self.line(&format!("delete node n{at}")),
            1 => self.node(at, ", broken"),
            2 => self.node(at, ", cordoned"),
            3 => self.node(at, ", taint ancien=oui:NoSchedule"),
            _ => self.node(at, ""),
        }
    }

    /// `, required rack`, or nothing.
    pub(super) fn request(&mut self) -> String {
        if !self.places || self.chance.once_in(3) {
            return String::new();
        }
        let level = self.chance.one(&["bloc", "rack", "hostname"]);
        match self.chance.below(5) {
            0 | 1 => format!(", required {level}"),
            2 | 3 => format!(", preferred {level}"),
            _ => ", unconstrained".to_owned(),
        }
    }

    /// Whole slices only; the API server refuses others.
    pub(super) fn slices(&mut self, line: &mut String, request: &str, pods: usize) {
        if request.is_empty() || !self.chance.once_in(4) {
            return;
        }
        let size = if pods.is_multiple_of(2) { 2 } else { pods };
        let level = self.chance.one(&["rack", "hostname"]);
        let _ = write!(line, ", slices of {size} per {level}");
    }
}
