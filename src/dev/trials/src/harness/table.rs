//! The table of a form: theirs, ours, ours by theirs.

use std::collections::BTreeSet;

use super::figures::Figures;

/// Requests that say nothing in a table.
const FEW: f64 = 40.0;

#[expect(clippy::print_stdout, reason = "the table is what the command is for")]
pub(super) fn print(title: &str, theirs: &Figures, ours: &Figures) {
    println!("\n{title}");
    println!("{:<40} {:>12} {:>12} {:>8}", "", "theirs", "ours", "ratio");
    for (name, theirs, ours) in rows(theirs, ours) {
        println!(
            "{name:<40} {theirs:>12.2} {ours:>12.2} {}",
            ratio(theirs, ours)
        );
    }
}

/// One line after each run.
#[expect(
    clippy::print_stdout,
    reason = "progress of a command that takes minutes"
)]
pub(super) fn progress(what: &str, figures: &Figures) {
    let admission: Vec<String> = figures
        .admission
        .iter()
        .map(|(class, mean)| format!("{class} {mean:.0} ms"))
        .collect();
    println!(
        "{what}: {:.1} s wall, {:.1} s CPU, {:.0} MB, usage {:.1} %, servers {:.1} s CPU; {}",
        figures.wall,
        figures.cost.cpu,
        figures.cost.memory,
        figures.usage,
        figures.servers,
        admission.join(", ")
    );
}

fn rows(theirs: &Figures, ours: &Figures) -> Vec<(String, f64, f64)> {
    let mut rows = vec![
        ("wall time, s".to_owned(), theirs.wall, ours.wall),
        ("first to last event, s".to_owned(), theirs.span, ours.span),
        ("CPU, s".to_owned(), theirs.cost.cpu, ours.cost.cpu),
        (
            "peak memory, MB".to_owned(),
            theirs.cost.memory,
            ours.cost.memory,
        ),
        (
            "etcd and API server, CPU s".to_owned(),
            theirs.servers,
            ours.servers,
        ),
        (
            "average use of the quota, %".to_owned(),
            theirs.usage,
            ours.usage,
        ),
        ("evictions".to_owned(), theirs.evictions, ours.evictions),
    ];
    for (name, theirs, ours) in asked(theirs, ours) {
        rows.push((name, theirs, ours));
    }
    for (class, mean) in &theirs.admission {
        let own = ours.admission.get(class).copied().unwrap_or_default();
        rows.push((format!("time to admission, {class}, ms"), *mean, own));
    }
    rows
}

/// What was asked of the API server more than a few times.
fn asked(theirs: &Figures, ours: &Figures) -> Vec<(String, f64, f64)> {
    let of = |all: &Figures, what: &String| all.requests.get(what).copied().unwrap_or_default();
    let names: BTreeSet<&String> = theirs.requests.keys().chain(ours.requests.keys()).collect();
    let counts = names
        .into_iter()
        .map(|what| (what.clone(), of(theirs, what), of(ours, what)));
    counts
        .filter(|(_, theirs, ours)| theirs.max(*ours) > FEW)
        .collect()
}

fn ratio(theirs: f64, ours: f64) -> String {
    if theirs > 0.0 {
        format!("{:>8.2}", ours / theirs)
    } else {
        format!("{:>8}", "–")
    }
}
