//! Whether a ClusterQueue with a topology can admit anything.

use cache::{Cache, ClusterQueueName};
use scheduler::FlavorName;
use serde_json::Value;

use crate::corpus::{Case, now, parse, read};
use crate::verdict::Verdict;
use crate::world::options;

/// Tells the cache what one call on the reference's cache tells.
fn tell(cache: &mut Cache, operation: &Value) {
    let arguments = &operation["args"];
    let _ = match operation["op"].as_str().unwrap_or_default() {
        "Cache.AddOrUpdateResourceFlavor" => cache.apply_resource_flavor(&parse(&arguments["rf"])),
        "Cache.DeleteResourceFlavor" => {
            let name: String = read(&arguments["rf"]["metadata"]["name"]);
            cache.delete_resource_flavor(&FlavorName::from(name.as_str()))
        }
        "Cache.AddOrUpdateTopology" => cache.apply_topology(&parse(&arguments["topology"])),
        "Cache.AddOrUpdateAdmissionCheck" => cache.apply_admission_check(&parse(&arguments["ac"])),
        "Cache.AddClusterQueue" | "Cache.UpdateClusterQueue" => {
            cache.apply_cluster_queue(&parse(&arguments["cq"]), now())
        }
        _ => return,
    };
}

/// The condition after all that was told.
pub(super) fn with_topology(case: Case<'_>) -> Verdict {
    let mut cache = Cache::new(options(&case));
    let operations = case.input["operations"].as_array();
    for operation in operations.into_iter().flatten() {
        tell(&mut cache, operation);
    }
    let name: String = read(&case.input["cq"]["metadata"]["name"]);
    let readiness = cache.readiness(&ClusterQueueName::from(name.as_str()));
    let got = readiness.map(|readiness| (readiness.reason.to_owned(), readiness.message));
    let want = (
        read(&case.want["wantReason"]),
        read(&case.want["wantMessage"]),
    );
    Verdict::equal("readiness", &got, &Some(want))
}
