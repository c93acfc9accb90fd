//! Answers, objects, and what joins statements.

use super::check;
use crate::world::{NAMESPACE, World, done};
use serde_json::json;

#[test]
fn answers() {
    check(
        "answer: q, equals: 8",
        &[
            ("none", |_| {}, "pending unanswered"),
            ("a number", |w| done(w.answer("q", 8)), "passed passed"),
            (
                "a number as a text",
                |w| done(w.answer("q", " 8.0 ")),
                "passed passed",
            ),
            ("wrong", |w| done(w.answer("q", 9)), "failed wrong-answer"),
            (
                "corrected",
                |w| done(w.answer("q", 9).answer("q", 8)),
                "passed passed",
            ),
            (
                "right answers stay right",
                |w| done(w.answer("q", 8).answer("q", 9)),
                "passed passed",
            ),
        ],
    );
    check(
        "answer: q, set: [rouge, bleu]",
        &[
            (
                "in any order",
                |w| done(w.answer("q", json!(["bleu", "rouge"]))),
                "passed passed",
            ),
            (
                "one too many",
                |w| done(w.answer("q", json!(["bleu", "rouge", "vert"]))),
                "failed wrong-answer",
            ),
        ],
    );
    check(
        "answer: q, same-as: { job: c, becomes: queued, take: reason }",
        &[
            (
                "what really happened",
                |w| done(w.queues("c").answer("q", "waitingforquota ")),
                "passed passed",
            ),
            (
                "something else",
                |w| done(w.queues("c").answer("q", "ExceedsMaxQuota")),
                "failed wrong-answer",
            ),
            (
                "nothing happened",
                |w| done(w.answer("q", "WaitingForQuota")),
                "failed wrong-answer",
            ),
        ],
    );
    check(
        "answer: q, same-as: { job: c, becomes: admitted, take: seconds-waited }, tolerance: 2",
        &[
            (
                "near enough",
                |w| done(w.queues("c").wait(12.0).admits("c").answer("q", 14)),
                "passed passed",
            ),
            (
                "too far",
                |w| done(w.queues("c").wait(12.0).admits("c").answer("q", 15)),
                "failed wrong-answer",
            ),
        ],
    );
    check(
        "answer: q, same-as: { job: c, becomes: managed, take: name }",
        &[(
            "the Workload's name",
            |w| done(w.queues("c").answer("q", "job-c")),
            "passed passed",
        )],
    );
}

#[test]
fn predictions_come_before() {
    check(
        "answer: q, given: true, before: { job: c, becomes: queued }",
        &[
            (
                "before",
                |w| done(w.answer("q", "third").queues("c")),
                "passed passed",
            ),
            (
                "nothing happened yet",
                |w| done(w.answer("q", "third")),
                "passed passed",
            ),
            (
                "after",
                |w| done(w.queues("c").answer("q", "third")),
                "failed late-answer",
            ),
            (
                "before it happens again",
                |w| done(w.queues("c").answer("q", "third").deleted("c").queues("c")),
                "passed passed",
            ),
        ],
    );
}

#[test]
fn objects() {
    let active = "object: ClusterQueue/vision, holds: \"conditions.Active.status == 'True'\"";
    check(
        active,
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            (
                "active",
                |w| done(w.cluster_queue("vision", 4)),
                "passed passed",
            ),
            (
                "no status yet",
                |w| done(w.object("ClusterQueue", None, "vision", json!({}))),
                "waiting not-holding",
            ),
            (
                "was active once",
                |w| {
                    done(w.cluster_queue("vision", 4).object(
                        "ClusterQueue",
                        None,
                        "vision",
                        json!({}),
                    ))
                },
                "passed passed",
            ),
            (
                "deleted unseen",
                |w| {
                    done(w.object("ClusterQueue", None, "vision", json!({})).gone(
                        "ClusterQueue",
                        None,
                        "vision",
                    ))
                },
                "failed deleted",
            ),
        ],
    );
    check(
        &format!("{active}, level: true"),
        &[
            (
                "active",
                |w| done(w.cluster_queue("vision", 4)),
                "passed passed",
            ),
            (
                "was active once",
                |w| {
                    done(w.cluster_queue("vision", 4).object(
                        "ClusterQueue",
                        None,
                        "vision",
                        json!({}),
                    ))
                },
                "waiting not-holding",
            ),
            (
                "deleted",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .gone("ClusterQueue", None, "vision"),
                    )
                },
                "failed deleted",
            ),
        ],
    );
    check(
        &format!("{active}, for: 5s"),
        &[
            (
                "not long yet",
                |w| done(w.cluster_queue("vision", 4).wait(4.0)),
                "waiting holding",
            ),
            (
                "long enough",
                |w| done(w.cluster_queue("vision", 4).wait(5.0)),
                "passed passed",
            ),
            (
                "interrupted",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .wait(4.0)
                            .object("ClusterQueue", None, "vision", json!({}))
                            .wait(9.0),
                    )
                },
                "failed too-short",
            ),
        ],
    );
}

#[test]
fn predicates_see_nodes_quantities_and_missing_fields() {
    let node = |w: &mut World, profil: &str| {
        w.object(
            "Node",
            None,
            "cpu-1",
            json!({"metadata": {"labels": {"profil": profil}}}),
        );
    };
    let flavor = |w: &mut World| {
        w.object(
            "ResourceFlavor",
            None,
            "cpu",
            json!({"spec": {"nodeLabels": {"profil": "cpu"}}}),
        );
    };
    let criterion = "object: ResourceFlavor/cpu, holds: 'nodes.exists(n, spec.nodeLabels.all(k, k in n.metadata.labels && n.metadata.labels[k] == spec.nodeLabels[k]))'";
    for (label, expected) in [("cpu", "passed passed"), ("gpu", "waiting not-holding")] {
        let mut world = World::new();
        node(&mut world, label);
        flavor(&mut world);
        assert_eq!(world.told(criterion), expected);
        // A node that gets the label later does not change what the flavor was when it was made.
        node(&mut world, "cpu");
        assert_eq!(world.told(criterion), expected);
    }
    let mut world = World::new();
    world.object(
        "Job",
        Some(NAMESPACE),
        "a",
        json!({"spec": {"parallelism": 2, "cpu": "1500m", "n": 3}}),
    );
    for (holds, expected) in [
        (
            "quantity(spec.cpu) * quantity(spec.parallelism) == 3.0",
            "passed passed",
        ),
        ("quantity(\"8Gi\") == 8589934592.0", "passed passed"),
        ("spec.n >= 3", "passed passed"),
        ("spec.n == 3 && metadata.name == \"a\"", "passed passed"),
        ("has(spec.absent)", "waiting not-holding"),
        ("spec.absent == 1", "waiting not-holding"),
        ("spec.cpu > 1", "waiting not-holding"),
        (
            "conditions.Complete.status == \"True\"",
            "waiting not-holding",
        ),
        ("quantity(spec.cpus) > 1.0", "waiting not-holding"),
    ] {
        assert_eq!(
            world.told(&format!("object: Job/a, holds: '{holds}'")),
            expected,
            "{holds}"
        );
    }
}

#[test]
fn all_and_any() {
    let all = "all: [{ reaches: { job: a, becomes: admitted } }, { answer: q, equals: 8 }]";
    check(
        all,
        &[
            ("neither", |_| {}, "pending no-subject"),
            (
                "one",
                |w| done(w.queues("a").admits("a")),
                "pending unanswered",
            ),
            (
                "one failed",
                |w| done(w.answer("q", 9)),
                "failed wrong-answer",
            ),
            (
                "both",
                |w| done(w.queues("a").admits("a").answer("q", 8)),
                "passed passed",
            ),
        ],
    );
    check(
        "any: [{ reaches: { job: a, becomes: admitted } }, { answer: q, equals: 8 }]",
        &[
            ("neither", |_| {}, "pending unanswered"),
            ("one", |w| done(w.answer("q", 8)), "passed passed"),
            (
                "the more advanced is told",
                |w| done(w.queues("a")),
                "waiting still-queued",
            ),
        ],
    );
}

#[test]
fn after_a_moment_only() {
    check(
        "reaches: { job: '*', becomes: admitted }, after: { object: ClusterQueue/vision, changes: spec }",
        &[
            (
                "before it",
                |w| done(w.cluster_queue("vision", 4).queues("a").admits("a")),
                "waiting not-yet",
            ),
            (
                "not after it",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .queues("a")
                            .admits("a")
                            .cluster_queue("vision", 6),
                    )
                },
                "pending no-subject",
            ),
            (
                "after it",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .cluster_queue("vision", 6)
                            .queues("a")
                            .admits("a"),
                    )
                },
                "passed passed",
            ),
        ],
    );
}
