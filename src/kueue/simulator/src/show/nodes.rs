//! Nodes: their place in a topology, what they hold.

use super::short;
use super::table::table;
use crate::world::World;

pub(super) fn nodes(world: &World) -> String {
    let mut rows = vec![["node", "labels", "room"].map(str::to_owned).to_vec()];
    for (name, node) in &world.nodes {
        let labels = node.metadata.labels.iter().flatten();
        let labels = labels.filter(|(key, _)| *key != "kubernetes.io/hostname");
        let labels: Vec<_> = labels
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let room = node
            .status
            .as_ref()
            .and_then(|status| status.allocatable.as_ref());
        let room: Vec<_> = room
            .into_iter()
            .flatten()
            .map(|(resource, amount)| format!("{} {}", short(resource), amount.0))
            .collect();
        rows.push(vec![name.clone(), labels.join(" "), room.join(", ")]);
    }
    if rows.len() > 1 {
        table(&rows, 3)
    } else {
        String::new()
    }
}
