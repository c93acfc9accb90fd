use expect_test::{Expect, expect};
use simulator::Player;

/// Plays a script that has to fail, and says how.
fn refused(text: &str, expected: &Expect) {
    let error = Player::new("essai.sim").script(text).unwrap_err().1;
    expected.assert_eq(&error.to_string());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn errors_name_file_and_line_and_say_what_is_expected() {
    let cases = [
        (
            "\n\nfrobnicate",
            expect![
                "essai.sim:3: expected say, set, namespace, flavor, topology, node, cohort, queue, local, quota, hold, drain, resume, submit, finish, deactivate, activate, priority, delete, advance, cycle, run, show, or `---` before YAML, found `frobnicate`"
            ],
        ),
        (
            "queue vision\n  quota a100 gpu four",
            expect!["essai.sim:2: expected an amount such as 4 or 500m, found `four`"],
        ),
        (
            "queue vision, strikt",
            expect![
                "essai.sim:1: expected cohort, quota, strict, best-effort, preempt, fungibility, namespaces, weight, usage-based, hold or drain, found `strikt`"
            ],
        ),
        (
            "queue vision\n  preempt own sometimes",
            expect!["essai.sim:2: expected one of never, lower, lower-or-newer, found `sometimes`"],
        ),
        (
            "submit chiffres vision, 1 pod",
            expect!["essai.sim:1: expected `to`, found `vision`"],
        ),
        (
            "submit chiffres to vision",
            expect!["essai.sim:1: chiffres has no pods: add `, 1 pod of gpu 1`"],
        ),
        (
            "submit chiffres to vision, 1 pod of gpu 1\nfinish cinema",
            expect!["essai.sim:2: expected a job that exists (chiffres), found `cinema`"],
        ),
        (
            "advance soon",
            expect!["essai.sim:1: expected a duration such as 30s or 5m, found `soon`"],
        ),
        (
            "run now",
            expect!["essai.sim:1: `now` is too much after `run`"],
        ),
        (
            "run, 3",
            expect!["essai.sim:1: `run` takes no settings, found `3`"],
        ),
        (
            "flavor a100, taint spot",
            expect!["essai.sim:1: expected a taint as key=value:NoSchedule, found `spot`"],
        ),
        (
            "flavor a100\nset fair-sharing on",
            expect![
                "essai.sim:2: expected `set` before everything else, as a controller reads its configuration when it starts"
            ],
        ),
        (
            "set gate Teleportation on",
            expect!["essai.sim:1: expected a feature gate of Kueue, found `Teleportation`"],
        ),
        (
            "quota vision a100 gpu 4",
            expect![
                "essai.sim:1: expected a queue or cohort that exists, found `vision`; there is none yet"
            ],
        ),
        (
            "---\nkind: Pod\n...",
            expect![
                "essai.sim:2: expected a Namespace, Node, ResourceFlavor, Topology, Cohort, ClusterQueue, LocalQueue, WorkloadPriorityClass or Workload, found kind `Pod`"
            ],
        ),
        (
            "say bonjour\n---\nkind: Cohort\nmetadata:\n  name: [\n...",
            expect![[r#"
            essai.sim:3: error: line 3 column 9: unclosed bracket '['
             --> <input>:3:9
              |
            1 | kind: Cohort
            2 | metadata:
            3 |   name: [
              |         ^ unclosed bracket '['"#]],
        ),
    ];
    for (text, expected) in cases {
        refused(text, &expected);
    }
}
