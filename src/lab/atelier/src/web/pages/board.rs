//! The live table: queues with their quotas, Workloads with what they wait for, GPU nodes with their devices.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use askama::Template;
use timeline::{Board, BoardNode, BoardWorkload, FlavorUse, WorkloadState};

use crate::web::desk::BoardView;
use crate::web::words::Words;

/// Devices in a row of a node's picture.
const ROW: u32 = 8;
/// Looks that tell jobs apart; after these they repeat, and the list below names them all the same.
const LOOKS: usize = 6;

#[derive(Debug, Template)]
#[template(path = "fragments/board.html")]
struct BoardFragment<'a> {
    words: &'a Words,
    board: Option<&'a Board>,
}

/// The table as HTML.
#[must_use]
pub fn html(view: &BoardView, words: &Words) -> String {
    crate::web::frame::rendered(&BoardFragment {
        words,
        board: view.board.as_ref(),
    })
}

#[expect(clippy::unused_self, reason = "templates call through self")]
impl BoardFragment<'_> {
    /// Used part of a quota; what is borrowed goes beyond the nominal mark, hatched.
    fn bar(&self, flavor: &FlavorUse) -> String {
        let share = flavor.share.clamp(0.0, 9.0);
        let scale = 100.0 / share.max(1.0);
        let (own, borrowed) = (share.min(1.0) * scale, (share - 1.0).max(0.0) * scale);
        let mut svg = String::from(
            r#"<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="ground" width="100" height="8"/>"#,
        );
        // Writing into a string cannot fail.
        let _infallible = write!(svg, r#"<rect class="part" width="{own:.1}" height="8"/>"#);
        if borrowed > 0.0 {
            let _infallible = write!(
                svg,
                r#"<rect class="borrowed" x="{own:.1}" width="{borrowed:.1}" height="8"/>"#
            );
        }
        svg.push_str("</svg>");
        svg
    }

    fn borrows(&self, flavor: &FlavorUse) -> bool {
        flavor.share > 1.0
    }

    /// What waits first, by priority and then the longest unchanged; what is over last, the latest first.
    fn workloads<'b>(&self, board: &'b Board) -> Vec<&'b BoardWorkload> {
        let (over, mut going): (Vec<_>, Vec<_>) = board
            .workloads
            .iter()
            .partition(|workload| workload.state == WorkloadState::Finished);
        // The board has the latest change first.
        going.reverse();
        going.sort_by_key(|workload| match workload.state {
            WorkloadState::Queued | WorkloadState::Evicted => (0, -workload.priority),
            WorkloadState::Reserved | WorkloadState::Admitted => (1, 0),
            WorkloadState::Running | WorkloadState::Finished => (2, 0),
        });
        going.extend(over);
        going
    }

    fn state_word(&self, workload: &BoardWorkload) -> &'static str {
        match workload.state {
            WorkloadState::Queued => "workload-queued",
            WorkloadState::Reserved => "workload-reserved",
            WorkloadState::Admitted => "workload-admitted",
            WorkloadState::Running => "workload-running",
            WorkloadState::Evicted => "workload-evicted",
            WorkloadState::Finished => "workload-finished",
        }
    }

    /// What a waiting Workload lacks, in words; nothing when Kueue's message is of another kind.
    fn lacks(&self, workload: &BoardWorkload) -> Vec<String> {
        let message = workload.message.as_deref().unwrap_or_default();
        let one = |part: &str| {
            let (resource, rest) = part.split_once(" in flavor ")?;
            let (flavor, rest) = rest.split_once(", ")?;
            let (amount, _) = rest.split_once(" more needed")?;
            let short = resource.rsplit('/').next().unwrap_or(resource);
            let values = [
                ("amount", amount.to_owned().into()),
                ("resource", short.to_owned().into()),
                ("flavor", flavor.to_owned().into()),
            ];
            Some(self.words.with("workload-lacks", &values))
        };
        let parts = message.split("insufficient unused quota for ").skip(1);
        parts.filter_map(one).collect()
    }

    fn job<'b>(&self, workload: &'b BoardWorkload) -> &'b str {
        workload.job.as_deref().unwrap_or(&workload.name)
    }

    fn requests(&self, workload: &BoardWorkload) -> String {
        let short = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let parts: Vec<String> = workload
            .requests
            .iter()
            .map(|(name, amount)| format!("{amount}\u{a0}{}", short(name)))
            .collect();
        parts.join(", ")
    }

    /// Model and rack, as far as they are known.
    fn place(&self, node: &BoardNode) -> String {
        let parts: Vec<&str> = [&node.product, &node.rack]
            .into_iter()
            .filter_map(Option::as_deref)
            .collect();
        parts.join(" · ")
    }

    fn used(&self, node: &BoardNode) -> u32 {
        node.pods.iter().map(|pod| pod.gpus).sum()
    }

    /// Who holds devices of the node, job by job.
    fn holders(&self, node: &BoardNode) -> Vec<Holder> {
        let mut holders: Vec<Holder> = Vec::new();
        for pod in node.pods.iter().filter(|pod| pod.gpus > 0) {
            let name = pod.job.as_deref().unwrap_or(&pod.name);
            match holders
                .iter_mut()
                .find(|holder| holder.name == name && holder.namespace == pod.namespace)
            {
                Some(holder) => holder.gpus += pod.gpus,
                None => holders.push(Holder {
                    namespace: pod.namespace.clone(),
                    name: name.to_owned(),
                    gpus: pod.gpus,
                }),
            }
        }
        holders
    }

    /// The square that stands for a holder in the picture.
    fn key(&self, holder: &Holder) -> String {
        let look = holder.look();
        format!(
            r#"<svg class="key" viewBox="0 0 20 20" width="14" height="14" aria-hidden="true"><rect class="held look-{look}" x="2" y="2" width="16" height="16" rx="3"/></svg>"#
        )
    }

    /// A square a device, in the looks of the job that holds it.
    fn devices(&self, node: &BoardNode) -> String {
        let holders = self.holders(node);
        let mut held = holders.iter().flat_map(|holder| {
            std::iter::repeat_n(
                holder.look(),
                usize::try_from(holder.gpus).unwrap_or_default(),
            )
        });
        let (columns, rows) = (node.gpus.clamp(1, ROW), node.gpus.div_ceil(ROW));
        let (wide, high) = (columns * 20, rows * 20);
        let (width, height) = (columns * 24, rows * 24);
        let mut svg = format!(
            r#"<svg class="devices" viewBox="0 0 {wide} {high}" width="{width}" height="{height}" aria-hidden="true">"#
        );
        for device in 0..node.gpus {
            let (x, y) = (device % ROW * 20 + 2, device / ROW * 20 + 2);
            let class = held
                .next()
                .map_or_else(|| "free".to_owned(), |look| format!("held look-{look}"));
            let _infallible = write!(
                svg,
                r#"<rect class="{class}" x="{x}" y="{y}" width="16" height="16" rx="3"/>"#
            );
        }
        svg.push_str("</svg>");
        svg
    }
}

/// A job and the devices of one node that it holds.
#[derive(Debug, PartialEq, Eq)]
struct Holder {
    namespace: String,
    name: String,
    gpus: u32,
}

impl Holder {
    /// The same job has the same looks on every node and after every reload.
    fn look(&self) -> usize {
        let bytes = self.namespace.bytes().chain([0]).chain(self.name.bytes());
        bytes.fold(7_usize, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(usize::from(byte))
        }) % LOOKS
    }
}
