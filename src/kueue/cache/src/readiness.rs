//! Whether a ClusterQueue can admit anything, and if not, why, in the reference's words.

use kueue_api::conditions::active_reasons as reasons;
use kueue_api::names::{MULTIKUEUE_CONTROLLER, PROVISIONING_CONTROLLER};
use kueue_api::v1beta2::AdmissionCheckStrategyRule;
use scheduler::{ClusterQueueName, FlavorName, messages};

use crate::Cache;
use crate::cache::QueueState;

/// The reason of a ClusterQueue that asks for what is not built yet and cannot be left out.
const NOT_SUPPORTED_YET: &str = "NotSupportedYet";

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
        if state.terminating {
            let message = "Can't admit new workloads; clusterQueue is terminating".to_owned();
            return Some(Readiness {
                active: false,
                reason: reasons::TERMINATING,
                message,
            });
        }
        let problems = self.problems(name, state);
        let Some((reason, _)) = problems.first() else {
            return Some(Readiness {
                active: true,
                reason: reasons::READY,
                message: "Can admit new workloads".to_owned(),
            });
        };
        let texts: Vec<_> = problems.iter().map(|(_, text)| text.as_str()).collect();
        Some(Readiness {
            active: false,
            reason,
            message: format!("Can't admit new workloads: {}.", texts.join(", ")),
        })
    }

    fn problems(&self, name: &ClusterQueueName, state: &QueueState) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        if state.stopped {
            found.push((reasons::STOPPED, "is stopped".to_owned()));
        }
        if let Some(unreadable) = &state.unreadable {
            found.push((reasons::UNKNOWN, format!("cannot be read: {unreadable}")));
        }
        let missing = self.missing_flavors(name);
        if !missing.is_empty() {
            found.push((
                reasons::FLAVOR_NOT_FOUND,
                format!(
                    "references missing ResourceFlavor(s): {}",
                    missing.join(",")
                ),
            ));
        }
        found.extend(self.check_problems(&state.checks));
        if found.is_empty() {
            let asked = self.unsupported(name).into_iter();
            let blocking = asked.filter(scheduler::Unsupported::forbids_admission);
            found.extend(blocking.map(|asked| (NOT_SUPPORTED_YET, messages::unsupported(&asked))));
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

    pub(crate) fn topology_flavors(&self, name: &ClusterQueueName) -> Vec<FlavorName> {
        let has_topology = |flavor: &&FlavorName| {
            self.flavors
                .get(*flavor)
                .is_some_and(|known| known.topology.is_some())
        };
        self.flavors_of(name)
            .filter(has_topology)
            .cloned()
            .collect()
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
    fn check_problems(&self, rules: &[AdmissionCheckStrategyRule]) -> Vec<(&'static str, String)> {
        let names = |keep: &dyn Fn(&AdmissionCheckStrategyRule) -> bool| -> Vec<&str> {
            let mut names: Vec<_> = rules
                .iter()
                .filter(|rule| keep(rule))
                .map(|rule| rule.name.as_str())
                .collect();
            names.sort_unstable();
            names
        };
        let by = |rule: &AdmissionCheckStrategyRule, controller: &str| {
            self.checks
                .get(&rule.name)
                .is_some_and(|check| check.controller == controller)
        };
        let missing = names(&|rule| !self.checks.contains_key(&rule.name));
        let inactive = names(&|rule| {
            self.checks
                .get(&rule.name)
                .is_some_and(|check| !check.active)
        });
        let multikueue = names(&|rule| by(rule, MULTIKUEUE_CONTROLLER));
        let per_flavor =
            names(&|rule| by(rule, MULTIKUEUE_CONTROLLER) && !rule.on_flavors.is_empty());
        let provisioning = names(&|rule| by(rule, PROVISIONING_CONTROLLER));
        let mut found = Vec::new();
        let mut report = |condition: bool, reason: &'static str, text: String| {
            if condition {
                found.push((reason, text));
            }
        };
        report(
            !missing.is_empty(),
            reasons::ADMISSION_CHECK_NOT_FOUND,
            format!(
                "references missing AdmissionCheck(s): {}",
                missing.join(",")
            ),
        );
        report(
            !inactive.is_empty(),
            reasons::ADMISSION_CHECK_INACTIVE,
            format!(
                "references inactive AdmissionCheck(s): {}",
                inactive.join(",")
            ),
        );
        report(
            multikueue.len() > 1,
            reasons::MULTIPLE_MULTIKUEUE_ADMISSION_CHECKS,
            format!(
                "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: {}",
                multikueue.join(",")
            ),
        );
        report(
            !per_flavor.is_empty(),
            reasons::MULTIKUEUE_ADMISSION_CHECK_APPLIED_PER_FLAVOR,
            format!(
                "Cannot specify MultiKueue AdmissionCheck per flavor, found: {}",
                per_flavor.join(",")
            ),
        );
        report(
            !multikueue.is_empty() && !provisioning.is_empty(),
            reasons::MULTIKUEUE_WITH_PROVISIONING_REQUEST,
            format!(
                "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: {}, {}",
                multikueue.join(","),
                provisioning.join(",")
            ),
        );
        found
    }
}
