//! Objects that cannot be read, or are at the edges of what can be written: each is its own trouble, told by an event, a metric or a
//! condition, and all others go on. The schemas of the CRDs would refuse most of them, so they are loosened first, and nobody asks webhooks.

mod loosen;
mod table;

use super::ground::Ground;
use super::metrics::{Scraper, has};
use crate::commands::ok;
use crate::host::manager_in;
use crate::patience::until;
use table::{CASES, Case, Outcome};

pub(super) async fn hold(ground: Ground) {
    ground.queue(4).await;
    ground.job("before", 1, 1).await;
    ground.wait("job/before", "condition=complete").await;
    let process = manager_in(&ground.cluster.0, super::ENVIRONMENT);
    loosen::all(&ground).await;

    let (workloads, others): (Vec<_>, Vec<_>) = CASES
        .iter()
        .partition(|case| case.what.starts_with("workload/"));
    ground.apply(&joined(&others)).await;
    // Each kind has a watch of its own: a Workload that is seen before the circle of cohorts may be admitted, and is not wrong then.
    for case in others
        .iter()
        .filter(|case| case.what.starts_with("cohort/"))
    {
        if let Outcome::Told(reason) = case.outcome {
            let what = case.what.replace("NS", &ground.name);
            told(&ground, what.trim_start_matches("cohort/"), reason).await;
        }
    }
    ground.apply(&joined(&workloads)).await;
    ground.apply(&many_pod_sets()).await;
    for case in CASES {
        let what = case.what.replace("NS", &ground.name);
        let (_, name) = what.split_once('/').expect("kind/name");
        match case.outcome {
            Outcome::Unreadable => told(&ground, name, "Unreadable").await,
            Outcome::Told(reason) => told(&ground, name, reason).await,
            Outcome::Admitted => ground.wait(&what, "condition=Admitted").await,
            Outcome::Waits(words) => says(&ground, &what, "QuotaReserved", words).await,
            Outcome::Inactive(words) => says(&ground, &what, "Active", words).await,
            Outcome::Active => ground.wait(&what, "condition=Active").await,
        }
    }
    ground
        .wait("workload/many-pod-sets", "condition=Admitted")
        .await;
    names_at_their_limits(&ground).await;

    let scraper = Scraper::new(&ground).await;
    scraper.allow(&ground).await;
    for kind in [
        "Workload",
        "ClusterQueue",
        "ResourceFlavor",
        "Topology",
        "WorkloadPriorityClass",
    ] {
        until(&format!("the metric counts a {kind}"), async || {
            let seen = scraper.scrape(&ground).await;
            let label = format!("kind=\"{kind}\"");
            seen.lines()
                .any(|line| line.contains("unreadable_objects_total") && line.contains(&label))
                && !has(&seen, "kueue_unreadable_objects_total", &[&label], "0")
        })
        .await;
    }
    ground.job("after", 1, 1).await;
    ground.wait("job/after", "condition=complete").await;
    assert_eq!(
        manager_in(&ground.cluster.0, super::ENVIRONMENT),
        process,
        "the controller was started again"
    );
}

fn joined(cases: &[&Case]) -> String {
    let objects = cases.iter().map(|case| format!("---\n{}\n", case.object));
    objects.collect()
}

/// Events of cluster-wide objects are in `default`.
async fn told(ground: &Ground, name: &str, reason: &str) {
    let fields = format!("--field-selector=involvedObject.name={name},reason={reason}");
    until(&format!("{name} is told {reason}"), async || {
        let events = ["get", "events", "-A", "-o", "name", &fields];
        !ok(ground.cluster.kubectl(&events)).await.is_empty()
    })
    .await;
}

/// Waits until the condition is false, and its message has these words, in which `NS` is the name of the ground.
async fn says(ground: &Ground, what: &str, condition: &str, words: &str) {
    let words = words.replace("NS", &ground.name);
    let status = format!("condition={condition}=False");
    ground.wait(what, &status).await;
    let path = format!("{{.status.conditions[?(@.type==\"{condition}\")].message}}");
    until(&format!("{what} says {words}"), async || {
        ground.get(what, &path).await.contains(&words)
    })
    .await;
}

/// Names of 63 characters, the most that a label holds: a LocalQueue's, and a Job's, whose Workload's name is cut.
async fn names_at_their_limits(ground: &Ground) {
    let long = "n".repeat(63);
    let queue = format!(
        "{{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {{name: {long}}}, spec: {{clusterQueue: NS}}}}"
    );
    ground.apply(&queue).await;
    let job =
        super::ground::job(&long, 1, 1).replace("queue-name: NS", &format!("queue-name: {long}"));
    ground.apply(&job).await;
    ground
        .wait(&format!("job/{long}"), "condition=complete")
        .await;
}

/// A Workload of 500 sets of pods.
fn many_pod_sets() -> String {
    let set = |at: usize| {
        format!(
            "{{name: s{at}, count: 1, template: {{spec: {{containers: [{{name: c, image: i, resources: {{requests: {{cpu: 1m}}}}}}]}}}}}}"
        )
    };
    let sets: Vec<String> = (0..500).map(set).collect();
    format!(
        "{{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {{name: many-pod-sets}}, spec: {{queueName: NS, active: true, podSets: [{}]}}}}",
        sets.join(", ")
    )
}

/// The validating and changing webhooks are taken away, so that nobody but the API server looks at what comes.
async fn ask_no_webhooks(ground: &Ground) {
    for kind in ["validating", "mutating"] {
        let name = format!("kueue-{kind}-webhook-configuration");
        let kind = format!("{kind}webhookconfiguration");
        ok(ground.cluster.kubectl(&["delete", &kind, &name])).await;
    }
}
