//! Nodes: their place in a topology, what they hold.

use super::table::table;
use super::{quantity, short};
use crate::check::taken;
use crate::world::World;

pub(super) fn nodes(world: &World) -> String {
    let mut rows = vec![
        ["node", "labels", "room", "taken"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let taken = taken(world);
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
        let taken = taken.get(name).into_iter().flat_map(|taken| taken.iter());
        let taken: Vec<_> = taken
            .map(|(resource, amount)| {
                format!(
                    "{} {}",
                    short(resource.as_str()),
                    quantity(resource, *amount)
                )
            })
            .collect();
        rows.push(vec![
            name.clone(),
            labels.join(" "),
            room.join(", "),
            taken.join(", "),
        ]);
    }
    if rows.len() > 1 {
        table(&rows, 4)
    } else {
        String::new()
    }
}
