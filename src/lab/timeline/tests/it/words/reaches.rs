//! Reaches, stays, never.

use super::check;
use crate::world::{Is, World, done};

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
