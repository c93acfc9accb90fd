//! Each word of criteria: what passes, what waits, what fails and why.

use crate::world::{Is, NAMESPACE, World, done};
use serde_json::json;

/// A history, and what a criterion makes of it.
fn check(criterion: &str, cases: &[(&str, fn(&mut World), &str)]) {
    for (name, history, expected) in cases {
        let mut world = World::new();
        history(&mut world);
        assert_eq!(world.told(criterion), *expected, "{name}: {criterion}");
    }
}

#[test]
fn reaches() {
    check(
        "reaches: { job: a, becomes: admitted, flavor: cpu }",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            ("created", |w| done(w.submit("a")), "waiting unmanaged"),
            (
                "seen by Kueue",
                |w| done(w.submit("a").workload("a", Is::New)),
                "waiting not-yet",
            ),
            ("waiting", |w| done(w.queues("a")), "waiting still-queued"),
            (
                "reserved is not admitted",
                |w| done(w.queues("a").workload("a", Is::Reserved("vision"))),
                "waiting not-yet",
            ),
            (
                "admitted",
                |w| done(w.queues("a").admits("a")),
                "passed passed",
            ),
            (
                "deleted before",
                |w| done(w.queues("a").deleted("a")),
                "failed deleted",
            ),
            (
                "a second attempt",
                |w| done(w.queues("a").deleted("a").queues("a").admits("a")),
                "passed passed",
            ),
            (
                "ran outside Kueue",
                |w| done(w.starts("a").ends("a")),
                "waiting unmanaged",
            ),
        ],
    );
}

#[test]
fn reaches_within() {
    let criterion = "reaches: { job: a, becomes: finished, result: succeeded }, within: 30s";
    check(
        criterion,
        &[
            (
                "in time",
                |w| done(w.queues("a").wait(29.0).ends("a")),
                "passed passed",
            ),
            (
                "too late",
                |w| done(w.queues("a").wait(31.0).ends("a")),
                "failed too-late",
            ),
            (
                "still time",
                |w| done(w.queues("a").wait(30.0)),
                "waiting still-queued",
            ),
            (
                "time is over",
                |w| done(w.queues("a").wait(30.5)),
                "failed too-late",
            ),
            (
                "failed is not succeeded",
                |w| done(w.queues("a").fails("a")),
                "failed never-was",
            ),
        ],
    );
    let mut world = World::new();
    world.queues("a");
    let next = world.judge(criterion).next.expect("time alone changes it");
    assert_eq!(next.duration_since(world.now()).as_millis(), 30_001);
}

#[test]
fn stays() {
    check(
        "stays: { job: c, is: queued }, for: 10s",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            (
                "no Workload",
                |w| done(w.submit("c").wait(20.0)),
                "waiting unmanaged",
            ),
            (
                "not long yet",
                |w| done(w.queues("c").wait(9.0)),
                "waiting holding",
            ),
            (
                "long enough",
                |w| done(w.queues("c").wait(10.0)),
                "passed passed",
            ),
            (
                "long enough, then admitted",
                |w| done(w.queues("c").wait(12.0).admits("c")),
                "passed passed",
            ),
            (
                "admitted too soon",
                |w| done(w.queues("c").wait(4.0).admits("c")),
                "failed too-short",
            ),
            (
                "deleted too soon",
                |w| done(w.queues("c").wait(4.0).deleted("c")),
                "failed deleted",
            ),
            (
                "two short waits are not one long",
                |w| done(w.queues("c").wait(6.0).deleted("c").queues("c").wait(6.0)),
                "waiting holding",
            ),
            (
                "the second attempt waits",
                |w| done(w.queues("c").wait(6.0).deleted("c").queues("c").wait(11.0)),
                "passed passed",
            ),
            (
                "started without Kueue",
                |w| done(w.starts("c").wait(20.0).ends("c")),
                "failed never-was",
            ),
        ],
    );
}

#[test]
fn stays_with_a_reason() {
    let reason_changes = |w: &mut World| {
        w.queues("c")
            .wait(6.0)
            .workload("c", Is::Queued("ExceedsMaxQuota"))
            .wait(6.0);
    };
    check(
        "stays: { job: c, is: queued, reason: WaitingForQuota }, for: 10s",
        &[(
            "another reason interrupts",
            reason_changes,
            "failed too-short",
        )],
    );
    check(
        "stays: { job: c, is: queued }, for: 10s",
        &[("but not the waiting", reason_changes, "passed passed")],
    );
    check(
        "stays: { job: c, is: queued, reason: [WaitingForQuota, ExceedsMaxQuota] }, for: 10s",
        &[(
            "either reason",
            |w| done(w.queues("c").wait(11.0)),
            "passed passed",
        )],
    );
}

#[test]
fn never_until() {
    check(
        "never: { job: g, becomes: admitted }, until: { object: ClusterQueue/vision, changes: spec }",
        &[
            (
                "nothing yet",
                |w| done(w.cluster_queue("vision", 4)),
                "pending no-subject",
            ),
            (
                "silence proves nothing yet",
                |w| done(w.cluster_queue("vision", 4).queues("g").wait(60.0)),
                "waiting not-yet",
            ),
            (
                "the quota came",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .queues("g")
                            .wait(9.0)
                            .cluster_queue("vision", 6)
                            .wait(1.0),
                    )
                },
                "passed passed",
            ),
            (
                "the quota came before the job",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .cluster_queue("vision", 6)
                            .queues("g")
                            .wait(1.0),
                    )
                },
                "waiting not-yet",
            ),
            (
                "admitted before",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .queues("g")
                            .admits("g")
                            .cluster_queue("vision", 6)
                            .wait(1.0),
                    )
                },
                "failed forbidden",
            ),
            (
                "admitted after",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .queues("g")
                            .cluster_queue("vision", 6)
                            .wait(1.0)
                            .admits("g"),
                    )
                },
                "passed passed",
            ),
            (
                "deleted before",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .queues("g")
                            .deleted("g")
                            .cluster_queue("vision", 6)
                            .wait(1.0),
                    )
                },
                "failed deleted",
            ),
            (
                "a status is no change of the spec",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .queues("g")
                            .cluster_queue("vision", 4)
                            .wait(1.0),
                    )
                },
                "waiting not-yet",
            ),
        ],
    );
}

#[test]
fn never_without_until_lasts_to_the_end_of_the_job() {
    check(
        "never: { job: libre, becomes: managed }",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            (
                "it runs",
                |w| done(w.starts("libre").wait(30.0)),
                "waiting not-yet",
            ),
            (
                "it ended",
                |w| done(w.starts("libre").ends("libre").wait(1.0)),
                "passed passed",
            ),
            (
                "Kueue took it",
                |w| done(w.queues("libre").wait(1.0)),
                "failed forbidden",
            ),
        ],
    );
}

#[test]
fn order_of_one_job() {
    check(
        "order: [{ job: a, becomes: queued }, { job: a, becomes: quota-reserved }, { job: a, becomes: admitted }, { job: a, becomes: started }]",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            ("queued", |w| done(w.queues("a")), "waiting still-queued"),
            (
                "all of it",
                |w| done(w.queues("a").admits("a")),
                "passed passed",
            ),
            (
                "unsuspended by hand",
                |w| done(w.queues("a").starts("a").wait(1.0)),
                "failed out-of-order",
            ),
            (
                "unsuspended by hand, then admitted all the same",
                |w| {
                    done(
                        w.queues("a")
                            .starts("a")
                            .suspends("a")
                            .admits("a")
                            .wait(1.0),
                    )
                },
                "failed out-of-order",
            ),
            (
                "the second attempt is right",
                |w| {
                    done(
                        w.queues("a")
                            .starts("a")
                            .wait(1.0)
                            .deleted("a")
                            .queues("a")
                            .admits("a"),
                    )
                },
                "passed passed",
            ),
            (
                "two attempts do not add up",
                |w| {
                    done(
                        w.queues("a")
                            .deleted("a")
                            .submit("a")
                            .workload("a", Is::New)
                            .admits("a")
                            .wait(1.0),
                    )
                },
                "failed out-of-order",
            ),
            (
                "the Workload was admitted at once",
                |w| done(w.submit("a").workload("a", Is::New).admits("a").wait(1.0)),
                "failed out-of-order",
            ),
        ],
    );
}

#[test]
fn order_across_objects() {
    let criterion = "order: [{ job: g, becomes: queued, reason: ExceedsMaxQuota }, { object: ClusterQueue/vision, holds: 'quantity(spec.resourceGroups[0].flavors[0].resources[0].nominalQuota) >= 6.0' }, { job: g, becomes: admitted }]";
    check(
        criterion,
        &[
            (
                "read, repaired, admitted",
                |w| {
                    w.cluster_queue("vision", 4)
                        .submit("g")
                        .workload("g", Is::Queued("ExceedsMaxQuota"));
                    w.wait(5.0).cluster_queue("vision", 6).admits("g");
                },
                "passed passed",
            ),
            (
                "a quota that is still too small",
                |w| {
                    w.cluster_queue("vision", 4)
                        .submit("g")
                        .workload("g", Is::Queued("ExceedsMaxQuota"));
                    w.wait(5.0).cluster_queue("vision", 5);
                },
                "waiting not-holding",
            ),
            (
                "large enough from the start",
                |w| {
                    done(
                        w.cluster_queue("vision", 8)
                            .queues("g")
                            .admits("g")
                            .wait(1.0),
                    )
                },
                "failed out-of-order",
            ),
            (
                "the job was made smaller instead",
                |w| {
                    w.cluster_queue("vision", 4)
                        .submit("g")
                        .workload("g", Is::Queued("ExceedsMaxQuota"));
                    w.deleted("g")
                        .submit("g")
                        .workload("g", Is::New)
                        .admits("g")
                        .wait(1.0);
                },
                "failed out-of-order",
            ),
        ],
    );
}

#[test]
fn order_within_a_time() {
    let history = |seconds: f64| {
        let mut world = World::new();
        world
            .cluster_queue("vision", 4)
            .queues("g")
            .wait(5.0)
            .cluster_queue("vision", 6)
            .wait(seconds)
            .admits("g");
        world.told("order: [{ object: ClusterQueue/vision, changes: spec }, { job: g, becomes: admitted }], within: 60s")
    };
    assert_eq!(history(59.0), "passed passed");
    assert_eq!(history(61.0), "failed too-late");
}

#[test]
fn caused() {
    check(
        "caused: { job: c, becomes: admitted }, by: { job: [a, b], becomes: finished }",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            (
                "waiting",
                |w| done(w.queues("a").admits("a").queues("c")),
                "waiting still-queued",
            ),
            (
                "after the finish of a",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("a")
                        .admits("a")
                        .queues("c")
                        .wait(9.0);
                    w.ends("a").workload("a", Is::Finished).admits("c");
                },
                "passed passed",
            ),
            (
                "after a change of the quota",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("a")
                        .admits("a")
                        .queues("c")
                        .wait(9.0);
                    w.cluster_queue("vision", 8).admits("c");
                },
                "failed quota-changed",
            ),
            (
                "after a finish and a change of the quota",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("a")
                        .admits("a")
                        .queues("c")
                        .wait(9.0);
                    w.ends("a").cluster_queue("vision", 8).admits("c");
                },
                "failed quota-changed",
            ),
            (
                "another job was deleted",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("d")
                        .admits("d")
                        .queues("c")
                        .wait(9.0);
                    w.deleted("d").admits("c");
                },
                "failed other-cause",
            ),
            (
                "it did not wait",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .queues("a")
                            .admits("a")
                            .ends("a")
                            .submit("c")
                            .admits("c"),
                    )
                },
                "failed never-was",
            ),
            (
                "it was recreated after the finish",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("a")
                        .admits("a")
                        .queues("c")
                        .wait(11.0)
                        .deleted("c");
                    w.ends("a")
                        .workload("a", Is::Finished)
                        .submit("c")
                        .workload("c", Is::New)
                        .admits("c");
                },
                "failed never-was",
            ),
            (
                "a finished in a queue of another cohort",
                |w| {
                    w.cluster_queue("vision", 4).object(
                        "ClusterQueue",
                        None,
                        "ailleurs",
                        json!({"spec": {}}),
                    );
                    w.queues("a")
                        .workload("a", Is::Reserved("ailleurs"))
                        .workload("a", Is::Admitted("ailleurs"));
                    w.queues("c").wait(9.0).ends("a").admits("c");
                },
                "failed other-cause",
            ),
        ],
    );
}

#[test]
fn preempted_by() {
    check(
        "reaches: { job: petit, becomes: preempted, by: urgent, reason: InClusterQueue }",
        &[
            (
                "by the named one, and the past was rewritten since",
                |w| {
                    w.queues("petit").admits("petit").queues("urgent").wait(1.0);
                    w.workload("petit", Is::Preempted("urgent"))
                        .suspends("petit")
                        .workload("petit", Is::Requeued);
                    w.admits("urgent").wait(9.0).ends("urgent").admits("petit");
                },
                "passed passed",
            ),
            (
                "by another",
                |w| {
                    w.queues("petit").admits("petit").queues("autre").wait(1.0);
                    w.workload("petit", Is::Preempted("autre"));
                },
                "waiting not-yet",
            ),
        ],
    );
}

#[test]
fn count() {
    check(
        "count: { job: '*', becomes: admitted }, at-least: 2",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            (
                "one",
                |w| done(w.queues("a").admits("a")),
                "waiting counting",
            ),
            (
                "one, twice",
                |w| {
                    done(
                        w.queues("a")
                            .admits("a")
                            .deleted("a")
                            .queues("a")
                            .admits("a"),
                    )
                },
                "waiting counting",
            ),
            (
                "two",
                |w| done(w.queues("a").admits("a").queues("b").admits("b")),
                "passed passed",
            ),
        ],
    );
    check(
        "count: { job: '*', becomes: admitted }, at-most: 1, until: { job: z, becomes: finished }",
        &[
            (
                "one so far",
                |w| done(w.queues("a").admits("a")),
                "waiting counting",
            ),
            (
                "two",
                |w| done(w.queues("a").admits("a").queues("b").admits("b")),
                "failed too-many",
            ),
            (
                "one to the end",
                |w| done(w.queues("a").admits("a").starts("z").ends("z").wait(1.0)),
                "passed passed",
            ),
        ],
    );
}

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
