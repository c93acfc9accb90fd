//! Whether a ClusterQueue can admit anything, and if not, why. The words are in `messages.rs`.

use kueue_api::names::{MULTIKUEUE_CONTROLLER, PROVISIONING_CONTROLLER};
use kueue_api::v1beta2::AdmissionCheckStrategyRule;
use scheduler::{ClusterQueue, ClusterQueueName, FlavorName, PlacesLater};

use crate::cache::QueueState;
use crate::{Cache, messages};

/// What keeps a ClusterQueue from admitting, in the order in which it is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    Terminating,
    Stopped,
    Unreadable(String),
    MissingFlavors(Vec<String>),
    MissingChecks(Vec<String>),
    InactiveChecks(Vec<String>),
    SeveralMultiKueueChecks(Vec<String>),
    MultiKueueCheckPerFlavor(Vec<String>),
    MultiKueueWithProvisioning(Vec<String>, Vec<String>),
    MissingTopology {
        topology: String,
        flavor: FlavorName,
    },
}

/// What the condition `Active` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// Its status.
    pub active: bool,
    /// Its reason.
    pub reason: &'static str,
    /// Its message.
    pub message: String,
}

impl Cache {
    /// What the condition `Active` of a ClusterQueue says; `None` if there is no such ClusterQueue.
    #[must_use]
    pub fn readiness(&self, name: &ClusterQueueName) -> Option<Readiness> {
        let state = self.queues.get(name)?;
        Some(messages::readiness(&self.obstacles(name, state)))
    }

    fn obstacles(&self, name: &ClusterQueueName, state: &QueueState) -> Vec<Obstacle> {
        if state.terminating {
            return vec![Obstacle::Terminating];
        }
        let missing = self.missing_flavors(name);
        let stopped = state.stopped.then_some(Obstacle::Stopped);
        let unreadable = state.unreadable.clone().map(Obstacle::Unreadable);
        let missing = (!missing.is_empty()).then_some(Obstacle::MissingFlavors(missing));
        let mut found: Vec<_> = stopped
            .into_iter()
            .chain(unreadable)
            .chain(missing)
            .collect();
        found.extend(self.check_obstacles(&state.checks));
        // With MultiKueue another cluster knows the topology.
        if !found.is_empty() || !self.places_later_always(&state.checks) {
            found.extend(self.missing_topologies(name));
        }
        found
    }

    fn missing_flavors(&self, name: &ClusterQueueName) -> Vec<String> {
        let flavors = self.flavors_of(name);
        flavors
            .filter(|flavor| !self.flavors.contains_key(*flavor))
            .map(ToString::to_string)
            .collect()
    }

    /// The flavors whose Topology is not there.
    fn missing_topologies(&self, name: &ClusterQueueName) -> Vec<Obstacle> {
        let missing = |flavor: &FlavorName| {
            let known = self.flavors.get(flavor)?;
            let topology = known.topology.clone()?;
            let there = self.places.levels_of(known).is_some();
            (!there).then(|| Obstacle::MissingTopology {
                topology,
                flavor: flavor.clone(),
            })
        };
        if !self.options.features.tas {
            return Vec::new();
        }
        self.flavors_of(name).filter_map(missing).collect()
    }

    fn checked_by<'a>(
        &'a self,
        rules: &'a [AdmissionCheckStrategyRule],
        controller: &'a str,
    ) -> impl Iterator<Item = &'a AdmissionCheckStrategyRule> {
        rules.iter().filter(move |rule| {
            let check = self.checks.get(&rule.name);
            check.is_some_and(|check| check.controller == controller)
        })
    }

    fn places_later_always(&self, rules: &[AdmissionCheckStrategyRule]) -> bool {
        let mut multikueue = self.checked_by(rules, MULTIKUEUE_CONTROLLER);
        multikueue.next().is_some()
    }

    /// Which places of a ClusterQueue are found only after its checks have answered.
    pub(crate) fn places_later(&self, queue: &ClusterQueue) -> PlacesLater {
        let Some(state) = self.queues.get(&queue.name) else {
            return PlacesLater::default();
        };
        let all = queue.groups.iter().flat_map(|group| &group.flavors);
        let provisioned = |flavor: &FlavorName| {
            let mut rules = self.checked_by(&state.checks, PROVISIONING_CONTROLLER);
            rules.any(|rule| {
                let mut on = rule.on_flavors.iter();
                rule.on_flavors.is_empty() || on.any(|name| name == flavor.as_str())
            })
        };
        PlacesLater {
            always: self.places_later_always(&state.checks),
            until_reserved: all.filter(|flavor| provisioned(flavor)).cloned().collect(),
        }
    }

    fn flavors_of(&self, name: &ClusterQueueName) -> impl Iterator<Item = &FlavorName> {
        let groups = self
            .specs
            .get(name)
            .into_iter()
            .flat_map(|queue| &queue.groups);
        groups.flat_map(|group| &group.flavors)
    }

    /// What is wrong with the admission checks of a ClusterQueue.
    fn check_obstacles(&self, rules: &[AdmissionCheckStrategyRule]) -> Vec<Obstacle> {
        let names = |keep: &dyn Fn(&AdmissionCheckStrategyRule) -> bool| -> Vec<String> {
            let kept = rules.iter().filter(|rule| keep(rule));
            let mut names: Vec<_> = kept.map(|rule| rule.name.clone()).collect();
            names.sort_unstable();
            names
        };
        let by = |rule: &AdmissionCheckStrategyRule, controller: &str| {
            let check = self.checks.get(&rule.name);
            check.is_some_and(|check| check.controller == controller)
        };
        let asleep = |rule: &AdmissionCheckStrategyRule| {
            let check = self.checks.get(&rule.name);
            check.is_some_and(|check| !check.active)
        };
        let missing = names(&|rule| !self.checks.contains_key(&rule.name));
        let inactive = names(&asleep);
        let multikueue = names(&|rule| by(rule, MULTIKUEUE_CONTROLLER));
        let per_flavor =
            names(&|rule| by(rule, MULTIKUEUE_CONTROLLER) && !rule.on_flavors.is_empty());
        let provisioning = names(&|rule| by(rule, PROVISIONING_CONTROLLER));
        let several = multikueue.len() > 1;
        let both = !multikueue.is_empty() && !provisioning.is_empty();
        let found = [
            (!missing.is_empty(), Obstacle::MissingChecks(missing)),
            (!inactive.is_empty(), Obstacle::InactiveChecks(inactive)),
            (
                several,
                Obstacle::SeveralMultiKueueChecks(multikueue.clone()),
            ),
            (
                !per_flavor.is_empty(),
                Obstacle::MultiKueueCheckPerFlavor(per_flavor),
            ),
            (
                both,
                Obstacle::MultiKueueWithProvisioning(multikueue, provisioning),
            ),
        ];
        let there = found.into_iter().filter(|(there, _)| *there);
        there.map(|(_, obstacle)| obstacle).collect()
    }
}
