//! Reports of a small lab, and who gets exit status 0.

use super::{Args, Format, Tongue, judged, report};
use crate::{judge::database, options::Options};
use course::{Known, Lab, LabSource, Language, QuestionId};
use expect_test::expect;
use jiff::Timestamp;
use std::{fs, path::Path, process::ExitCode};
use store::Store;
use timeline::{Entry, Timeline, What};

const FILES: &[(&str, &str)] = &[
    (
        "lab.yaml",
        "format: 1\nid: essai\nday: 1\nhalf: am\nminutes: 1\nprofile: petit\nnamespace: x\nsteps:\n  - id: un\n    minutes: 1\n    questions: [{ id: q, kind: number }]\n    criteria:\n      - { id: bon, points: 2, answer: q, equals: 8 }\n      - { id: pret, points: 1, object: Namespace/x, holds: 'true' }\n",
    ),
    (
        "fr/messages.ftl",
        "lab-title = Un essai\nlab-summary = Court.\nlab-goals = Un\nbon = Le compte est bon\n    .waiting = Comptez.\n    .failed = { $given } est faux.\npret = Le namespace existe\n    .waiting = Créez-le.\n    .failed = Non.\n",
    ),
    (
        "en/messages.ftl",
        "lab-title = A trial\nlab-summary = Short.\nlab-goals = One\nbon = The count is right\n    .waiting = Count.\n    .failed = { $given } is wrong.\npret = The namespace exists\n    .waiting = Create it.\n    .failed = No.\n",
    ),
    ("fr/un.md", "# Un\n\n:::question q\nCombien\n:::\n"),
    ("en/un.md", "# One\n\n:::question q\nHow many\n:::\n"),
    ("solution/run.sh", "true\n"),
];

fn lab() -> Lab {
    let files = FILES
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    let known = Known {
        profiles: vec!["petit".to_owned()],
    };
    Lab::read(
        &LabSource {
            folder: "essai".to_owned(),
            files,
        },
        &known,
    )
    .unwrap_or_else(|findings| panic!("{findings}"))
}

fn entries(answer: i64) -> Vec<Entry> {
    let at = Timestamp::from_second(1_800_000_000).expect("a time");
    let question = QuestionId::new("q").expect("id");
    vec![Entry {
        seq: 1,
        at,
        what: What::Answer {
            question,
            value: answer.into(),
        },
    }]
}

#[test]
fn text_for_people() {
    let (lab, timeline) = (lab(), Timeline::from_entries(&entries(9)));
    expect![[r#"
        Un essai · 0/3

        Un  0/3
          ✗ 0/2  Le compte est bon  [bon: failed]
                 9 est faux. Réponse donnée : 9.
                 (wrong-answer)
          · 0/1  Le namespace existe  [pret: pending]
                 Créez-le. Rien de ce nom n’a encore été vu : Namespace/x.
                 (no-subject)
    "#]]
    .assert_eq(&report::text(&lab, &judged(&timeline, &lab), Language::Fr));
}

#[test]
fn json_for_programs() {
    let (lab, timeline) = (lab(), Timeline::from_entries(&entries(8)));
    expect![[r#"
        {
          "lab": "essai",
          "title": "A trial",
          "earned": 2,
          "points": 3,
          "seq": 1,
          "steps": [
            {
              "step": "un",
              "title": "One",
              "earned": 2,
              "points": 3,
              "criteria": [
                {
                  "id": "bon",
                  "title": "The count is right",
                  "state": "passed",
                  "reason": "passed",
                  "say": null,
                  "text": "",
                  "detail": "Seen.",
                  "args": {
                    "given": "8",
                    "question": "q",
                    "subject": "q"
                  },
                  "earned": 2,
                  "points": 2,
                  "evidence": [
                    {
                      "seq": 1,
                      "at": "2027-01-15T08:00:00Z",
                      "what": "q = 8"
                    }
                  ]
                },
                {
                  "id": "pret",
                  "title": "The namespace exists",
                  "state": "pending",
                  "reason": "no-subject",
                  "say": null,
                  "text": "Create it.",
                  "detail": "Nothing of that name has been seen yet: Namespace/x.",
                  "args": {
                    "object": "Namespace/x",
                    "subject": "Namespace/x"
                  },
                  "earned": 0,
                  "points": 1,
                  "evidence": []
                }
              ]
            }
          ]
        }
    "#]]
    .assert_eq(
        &report::json(&lab, &judged(&timeline, &lab), &timeline, Language::En).expect("json"),
    );
}

#[test]
fn junit_for_test_reports() {
    let (lab, timeline) = (lab(), Timeline::from_entries(&entries(9)));
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="essai" tests="2" failures="2" errors="0">
            <testsuite name="un" tests="2" disabled="0" errors="0" failures="2">
                <testcase name="The count is right" classname="essai.bon">
                    <failure message="9 is wrong. Answer given: 9." type="failed/wrong-answer">1 2027-01-15T08:00:00Z q = 9</failure>
                </testcase>
                <testcase name="The namespace exists" classname="essai.pret">
                    <failure message="Create it. Nothing of that name has been seen yet: Namespace/x." type="pending/no-subject"></failure>
                </testcase>
            </testsuite>
        </testsuites>
    "#]].assert_eq(&report::junit(&lab, &judged(&timeline, &lab), &timeline, Language::En).expect("junit"));
}

fn lay_out(root: &Path) {
    for (path, text) in FILES {
        let file = root.join("labs/essai").join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        fs::write(file, text).expect("write");
    }
    fs::create_dir_all(root.join("labs/profiles")).expect("folder");
    fs::write(root.join("labs/profiles/petit.yaml"), "").expect("write");
}

fn args(lab: &str, env: Option<&str>) -> Args {
    Args {
        lab: lab.to_owned(),
        env: env.map(str::to_owned),
        format: Format::Text,
        language: Tongue::En,
    }
}

/// The criterion on the namespace keeps the marks from being full; the second record has it.
#[tokio::test]
async fn exit_status_zero_only_for_full_marks_without_a_server() {
    let root = tempfile::tempdir().expect("folder");
    lay_out(root.path());
    let options = Options::for_root(root.path());
    let error = super::run(&options, args("ess", None))
        .await
        .expect_err("no record");
    assert!(
        format!("{error:#}").contains("nothing was recorded"),
        "{error:#}"
    );
    let store = Store::open(&database(&options)).await.expect("store");
    store.append("solo", &entries(8)).await.expect("append");
    let status = |code: ExitCode| format!("{code:?}");
    let partly = super::run(&options, args("ess", None))
        .await
        .expect("graded");
    assert_eq!(status(partly), status(ExitCode::FAILURE));
    let namespace: What = serde_json::from_value(
        serde_json::json!({"is": "object", "verb": "added", "seen": "watched",
        "kind": "Namespace", "name": "x", "uid": "u", "version": "5", "object": {}}),
    )
    .expect("an entry");
    let mut all = entries(8);
    all.push(Entry {
        seq: 2,
        at: all[0].at,
        what: namespace,
    });
    store.append("full", &all).await.expect("append");
    let full = super::run(&options, args("essai", Some("full")))
        .await
        .expect("graded");
    assert_eq!(status(full), status(ExitCode::SUCCESS));
    let error = super::run(&options, args("essai", None))
        .await
        .expect_err("which one");
    assert!(format!("{error:#}").contains("full, solo"), "{error:#}");
    let error = super::run(&options, args("autre", None))
        .await
        .expect_err("no such lab");
    assert!(
        format!("{error:#}").contains("there are: essai"),
        "{error:#}"
    );
}
