//! Every lab on real environments: its solution passes twice from nothing, each wrong answer is refused where it should.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use testkit::{Platform, Programs};
use tokio::task::JoinSet;

use crate::machine;

#[tokio::test(flavor = "multi_thread")]
async fn solutions_pass_twice_from_nothing() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let runs = labs()
        .into_iter()
        .flat_map(|lab| [vec![lab.clone()], vec![lab]])
        .collect();
    assert_eq!(refusals(&programs, runs).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_answers_are_refused_where_they_should_be() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let mut runs = Vec::new();
    for lab in labs() {
        for wrong in folders(&course().join(&lab).join("wrong")) {
            runs.push(vec![lab.clone(), "--wrong".to_owned(), wrong]);
        }
    }
    assert!(runs.len() >= 6, "too few wrong answers: {runs:?}");
    assert_eq!(refusals(&programs, runs).await, Vec::<String>::new());
}

/// Runs `atelier solve` with each list of arguments, as many at once as the machine bears; what failed comes back.
async fn refusals(programs: &Programs, runs: Vec<Vec<String>>) -> Vec<String> {
    let mut tasks = JoinSet::new();
    for arguments in runs {
        let programs = programs.clone();
        tasks.spawn(async move {
            let _place = machine::place().await;
            let platform = Platform::new(&programs);
            let command = platform.atelier(["solve"]).args(&arguments);
            command.run().await.err().map(|error| error.to_string())
        });
    }
    tasks.join_all().await.into_iter().flatten().collect()
}

/// The labs of the course, by id.
fn labs() -> BTreeSet<String> {
    let written = |lab: &String| course().join(lab).join("lab.yaml").exists();
    folders(&course()).into_iter().filter(written).collect()
}

fn folders(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn course() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../labs")
}
