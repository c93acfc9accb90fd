//! Defaulting and validation, as tables.
#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in place read better"
)]

use kueue_api::features::Features;
use kueue_api::field::FieldError;
use serde_json::{Value, json};

use super::{Surroundings, default, validate_create, validate_update};
use crate::job::GenericJob;
use crate::kind::BATCH_JOB;

fn job(labels: Value, suspend: bool) -> Box<dyn GenericJob> {
    (BATCH_JOB.read)(json!({"metadata": {"name": "j", "labels": labels}, "spec": {"suspend": suspend, "parallelism": 3, "template": {}}})).unwrap()
}

/// The problems contain these words; without any there is none.
fn assert_says(name: &str, problems: &[FieldError], want: &str) {
    let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
    let text = texts.join("; ");
    assert!(
        text.contains(want) && (text.is_empty() == want.is_empty()),
        "{name}: {text}"
    );
}

const QUEUE: &str = "kueue.x-k8s.io/queue-name";
const CLASS: &str = "kueue.x-k8s.io/priority-class";

#[test]
fn new_jobs_are_held_back_when_they_are_ours() {
    let managed = Surroundings {
        namespace_managed: true,
        ..Surroundings::default()
    };
    let queue = json!({QUEUE: "fen"});
    let cases = [
        ("with a queue", queue.clone(), managed, (Some("fen"), true)),
        ("without", json!({}), managed, (None, false)),
        (
            "excluded namespace",
            queue.clone(),
            Surroundings::default(),
            (Some("fen"), false),
        ),
        (
            "excluded namespace with a default queue",
            json!({}),
            Surroundings {
                has_default_queue: true,
                ..Surroundings::default()
            },
            (None, false),
        ),
        (
            "default queue",
            json!({}),
            Surroundings {
                has_default_queue: true,
                ..managed
            },
            (Some("default"), true),
        ),
        (
            "everything is managed",
            json!({}),
            Surroundings {
                manage_without_queue_name: true,
                ..managed
            },
            (None, true),
        ),
        (
            "child of a managed object",
            queue,
            Surroundings {
                owner_managed: true,
                ancestor_managed: true,
                ..managed
            },
            (Some("fen"), false),
        ),
    ];
    for (name, labels, around, want) in cases {
        let mut job = job(labels, false);
        default(job.as_mut(), around);
        assert_eq!((job.queue_name(), job.is_suspended()), want, "{name}");
    }
}

#[test]
fn new_jobs_are_checked() {
    let cases = [
        ("fine", json!({QUEUE: "fen"}), ""),
        (
            "queue",
            json!({QUEUE: "Fen_1"}),
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"Fen_1\": a lowercase RFC 1123 subdomain",
        ),
        (
            "zero",
            json!({"kueue.x-k8s.io/max-exec-time-seconds": "0"}),
            "should be greater than 0",
        ),
        (
            "word",
            json!({"kueue.x-k8s.io/max-exec-time-seconds": "soon"}),
            "strconv.Atoi: parsing \"soon\": invalid syntax",
        ),
    ];
    for (name, labels, want) in cases {
        let problems = validate_create(
            job(labels, true).as_ref(),
            Surroundings::default(),
            &Features::default(),
        );
        assert_says(name, &problems, want);
    }
}

#[test]
fn changes_are_checked() {
    let (fen, moor) = (json!({QUEUE: "fen"}), json!({QUEUE: "moor"}));
    let classed = json!({QUEUE: "fen", CLASS: "high"});
    let cases = [
        (
            "queue of a suspended job",
            job(fen.clone(), true),
            job(moor.clone(), true),
            "",
        ),
        (
            "queue of a running job",
            job(fen.clone(), false),
            job(moor, false),
            "field is immutable",
        ),
        (
            "class removed",
            job(classed.clone(), true),
            job(fen.clone(), true),
            "WorkloadPriorityClass cannot be removed from a workload",
        ),
        (
            "class added while running",
            job(fen.clone(), false),
            job(classed.clone(), false),
            "WorkloadPriorityClass cannot be added to a non-suspended workload",
        ),
        (
            "class added while suspended",
            job(fen.clone(), true),
            job(classed, true),
            "",
        ),
        (
            "queue emptied",
            job(fen, true),
            job(json!({}), true),
            "queue-name must not be empty in namespace with default queue",
        ),
    ];
    let around = Surroundings {
        has_default_queue: true,
        namespace_managed: true,
        ..Surroundings::default()
    };
    for (name, old, new, want) in cases {
        let problems = validate_update(old.as_ref(), new.as_ref(), around, &Features::default());
        assert_says(name, &problems, want);
    }
}

#[test]
fn annotations_of_jobs_are_checked() {
    let with = |notes: Value, mode: &str| {
        (BATCH_JOB.read)(json!({"metadata": {"annotations": notes}, "spec": {"parallelism": 3, "completionMode": mode, "template": {}}})).unwrap()
    };
    let least = "kueue.x-k8s.io/job-min-parallelism";
    let follow = "kueue.x-k8s.io/job-completions-equal-parallelism";
    let cases = [
        ("fine", json!({least: "2"}), "NonIndexed", ""),
        (
            "too many",
            json!({least: "3"}),
            "NonIndexed",
            "should be between 0 and 2",
        ),
        (
            "no number",
            json!({least: "two"}),
            "NonIndexed",
            "strconv.Atoi: parsing \"two\": invalid syntax",
        ),
        ("follow", json!({follow: "true"}), "Indexed", ""),
        (
            "follow without indexes",
            json!({follow: "true"}),
            "NonIndexed",
            "should not be enabled for NonIndexed jobs",
        ),
    ];
    for (name, notes, mode, want) in cases {
        let problems = validate_create(
            with(notes, mode).as_ref(),
            Surroundings::default(),
            &Features::default(),
        );
        assert_says(name, &problems, want);
    }
}
