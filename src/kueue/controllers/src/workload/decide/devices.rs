//! Workloads that claim devices, which are not counted as quota here. Reference section 4.21.

use k8s_openapi::api::core::v1::PodResourceClaim;
use kueue_api::conditions::reasons;
use kueue_api::workload::phase::Phase;

use super::{Devices, Step, View, changed, draft};

/// A pending one is put off when its claims are refused, or are claims that exist already.
pub(super) fn refused(view: &View<'_>) -> Option<Step> {
    if Phase::of(view.workload) != Phase::Pending {
        return None;
    }
    let (told, put_off) = match view.rules.devices {
        Devices::Refused if claims(view, |_| true) => {
            let text = "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled";
            (text, text)
        }
        Devices::Counted if claims(view, |claim| claim.resource_claim_name.is_some()) => (
            "KueueDRAIntegration feature does not support use of resource claims",
            "DRA resource claims not supported",
        ),
        _ => return None,
    };
    let status = draft(view)
        .cancelled(reasons::MISCONFIGURED, told)
        .put_off(reasons::INADMISSIBLE, put_off);
    Some(changed(view, status.done()).unwrap_or(Step::Rest(None)))
}

fn claims(view: &View<'_>, which: impl Fn(&PodResourceClaim) -> bool) -> bool {
    let pods = view.workload.spec.pod_sets.iter();
    let specs = pods.filter_map(|set| set.template.spec.as_ref());
    let mut claims = specs.flat_map(|spec| spec.resource_claims.iter().flatten());
    claims.any(which)
}
