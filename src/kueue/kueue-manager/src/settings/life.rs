//! How Workloads live: from the configuration to what their reconciler goes by.

use cache::Words;
use controllers::workload::decide::{Devices, Rules};
use kueue_api::config::Configuration;
use kueue_api::features::gate;

pub(super) fn rules(configuration: &Configuration) -> Rules {
    let on = |gate| configuration.features.active(gate);
    let said = (
        on(gate::UNADMITTED_OBSERVABILITY),
        on(gate::UNADMITTED_EXPLICIT_STATUS),
    );
    let devices = (
        configuration.features.on(gate::DRA),
        on(gate::DRA_REJECT_WHEN_DISABLED),
    );
    Rules {
        words: match said {
            (false, _) => Words::Legacy,
            (true, false) => Words::Granular,
            (true, true) => Words::Explicit,
        },
        finish_orphans: on(gate::FINISH_ORPHANED_WORKLOADS),
        keep_finished: configuration.retain_finished_workloads,
        pods_ready: None,
        admission_gates: on(gate::ADMISSION_GATED_BY),
        preemption_gates: on(gate::MULTIKUEUE_ORCHESTRATED_PREEMPTION),
        devices: match devices {
            (true, _) => Devices::Counted,
            (false, true) => Devices::Refused,
            (false, false) => Devices::Ignored,
        },
    }
}
