//! Malformed labs: each is told with file, line and what is expected.

use crate::sample::{PAGE_FR, known, source};
use course::{Expectation, Known, Lab, LabSource};
use expect_test::{Expect, expect};

/// Replaces text in one file (an empty `old` appends) and shows the findings.
fn check(file: &str, old: &str, new: &str, expected: &Expect) {
    let mut source = source();
    let text = source.files.entry(file.to_owned()).or_default();
    if old.is_empty() {
        text.push_str(new);
    } else {
        assert!(text.contains(old), "{file} holds {old:?}");
        *text = text.replacen(old, new, 1);
    }
    expected.assert_eq(&faults(&source));
}

fn faults(source: &LabSource) -> String {
    match Lab::read(source, &known()) {
        Ok(_) => "no finding".to_owned(),
        Err(findings) => findings.to_string(),
    }
}

#[test]
fn yaml_that_is_none() {
    check(
        "lab.yaml",
        "day: 1",
        "day: [1",
        &expect!["lab.yaml:4: not valid YAML: illegal placement of ':' indicator"],
    );
}

#[test]
fn a_key_written_twice() {
    check(
        "lab.yaml",
        "day: 1\n",
        "day: 1\nday: 2\n",
        &expect!["lab.yaml:4: not valid YAML: duplicate mapping key: day"],
    );
}

#[test]
fn an_unknown_key() {
    check(
        "lab.yaml",
        "for: 10s",
        "four: 10s",
        &expect![[r#"
        lab.yaml:15: criterion `dix-secondes`: `for` is missing
        lab.yaml:18: criterion `dix-secondes`: unknown key `four`; did you mean `for`?
        wrong/trop/expect.yaml:1: expectation: there is no criterion `dix-secondes`"#]],
    );
}

#[test]
fn an_unknown_profile() {
    check(
        "lab.yaml",
        "profile: petit",
        "profile: petits",
        &expect!["lab.yaml:6: lab: unknown profile `petits`; did you mean `petit`?"],
    );
}

#[test]
fn another_id_than_the_folder() {
    check(
        "lab.yaml",
        "id: essai",
        "id: Essai 1",
        &expect!["lab.yaml:2: lab: id `Essai 1` must be kebab-case: a-z, 0-9 and inner hyphens"],
    );
}

#[test]
fn a_step_without_criteria() {
    check(
        "lab.yaml",
        "",
        "  - { id: lire-seulement, minutes: 5 }\n",
        &expect![[r#"
        en/lire-seulement.md: is missing: step `lire-seulement` in this language
        fr/lire-seulement.md: is missing: step `lire-seulement` in this language
        lab.yaml:25: step `lire-seulement`: has no criteria; a step is something that can be recognised"#]],
    );
}

#[test]
fn the_same_id_twice() {
    check(
        "lab.yaml",
        "id: prevoir,",
        "id: dix-secondes,",
        &expect!["lab.yaml:23: criterion `dix-secondes` appears twice; ids are unique in the lab"],
    );
}

#[test]
fn an_unknown_state() {
    check(
        "lab.yaml",
        "is: queued",
        "is: queue",
        &expect![[r#"
        lab.yaml:17: criterion `dix-secondes`, `stays`: unknown `is: queue`; did you mean `queued`?
        wrong/trop/expect.yaml:1: expectation: there is no criterion `dix-secondes`"#]],
    );
}

#[test]
fn an_unrecorded_kind() {
    check(
        "lab.yaml",
        "object: ClusterQueue/vision",
        "object: ClusterQueues/vision",
        &expect![[r#"
        lab.yaml:21: hint of criterion `dix-secondes`: `object: ClusterQueues/vision`: kind `ClusterQueues` is not recorded; did you mean `ClusterQueue`?
        wrong/trop/expect.yaml:1: expectation: criterion `dix-secondes` has no hint `quota`"#]],
    );
}

#[test]
fn a_namespace_where_there_is_none() {
    check(
        "lab.yaml",
        "object: ClusterQueue/vision",
        "object: ClusterQueue/equipe-vision/vision",
        &expect![[r#"
        lab.yaml:21: hint of criterion `dix-secondes`: `object: ClusterQueue/equipe-vision/vision`: ClusterQueue has no namespace: expected ClusterQueue/NAME
        wrong/trop/expect.yaml:1: expectation: criterion `dix-secondes` has no hint `quota`"#]],
    );
}

#[test]
fn cel_that_does_not_compile() {
    check(
        "lab.yaml",
        "show: 'spec.",
        "show: 'spec..",
        &expect![
            "lab.yaml:22: hint of criterion `dix-secondes`: `show`: not a CEL expression: Syntax error: no viable alternative at input '..'"
        ],
    );
}

#[test]
fn cel_with_an_unknown_variable() {
    check(
        "lab.yaml",
        "show: 'spec.",
        "show: 'specs.",
        &expect![
            "lab.yaml:22: hint of criterion `dix-secondes`: `show`: unknown variable `specs` in CEL: did you mean `spec`?"
        ],
    );
}

#[test]
fn an_answer_without_a_question() {
    check(
        "lab.yaml",
        "answer: lequel",
        "answer: laquelle",
        &expect!["lab.yaml:23: criterion `prevoir`: there is no question `laquelle`"],
    );
}

#[test]
fn two_words_in_one_criterion() {
    check(
        "lab.yaml",
        "        for: 10s",
        "        for: 10s\n        any: []",
        &expect![[r#"
            lab.yaml:15: criterion `dix-secondes`: says two things: stays and any; join them with `all:`
            wrong/trop/expect.yaml:1: expectation: there is no criterion `dix-secondes`"#]],
    );
}

#[test]
fn points_that_are_none() {
    check(
        "lab.yaml",
        "points: 2",
        "points: zero",
        &expect![[r#"
        lab.yaml:16: criterion `dix-secondes`: `points` must be a whole number of 1 or more, found a text
        wrong/trop/expect.yaml:1: expectation: there is no criterion `dix-secondes`"#]],
    );
}

#[test]
fn a_duration_without_a_unit() {
    check(
        "lab.yaml",
        "for: 10s",
        "for: 10",
        &expect![[r#"
        lab.yaml:18: criterion `dix-secondes`: `for: 10` is not a duration such as 10s, 2m or 500ms
        wrong/trop/expect.yaml:1: expectation: there is no criterion `dix-secondes`"#]],
    );
}

#[test]
fn a_missing_translation_of_a_step() {
    let mut source = source();
    source.files.remove("en/attendre.md");
    expect!["en/attendre.md: is missing: step `attendre` in this language"]
        .assert_eq(&faults(&source));
}

#[test]
fn a_criterion_without_message() {
    check(
        "en/messages.ftl",
        "prevoir = You predicted",
        "prevoirs = You predicted",
        &expect!["en/messages.ftl: criterion `prevoir` (lab.yaml:23) has no message"],
    );
}

#[test]
fn a_message_without_its_failure() {
    check(
        "en/messages.ftl",
        "    .failed = Too late.\n",
        "",
        &expect!["en/messages.ftl: message `prevoir` lacks `.failed`"],
    );
}

#[test]
fn a_hint_without_its_text() {
    check(
        "fr/messages.ftl",
        ".say-quota",
        ".say-quotas",
        &expect!["fr/messages.ftl: message `dix-secondes` lacks `.say-quota`"],
    );
}

#[test]
fn fluent_that_is_none() {
    check(
        "en/messages.ftl",
        "lire = You read",
        "lire : You read",
        &expect![[r#"
        en/messages.ftl: criterion `lire` (lab.yaml:24) has no message
        en/messages.ftl:11: not a Fluent message: Expected a token starting with "=""#]],
    );
}

#[test]
fn french_without_no_break_spaces() {
    check(
        "fr/messages.ftl",
        "pas attendu\u{a0}: pour",
        "pas attendu : pour",
        &expect!["fr/messages.ftl:6: French: a no-break space (U+00A0) is expected before `:`"],
    );
    check(
        "fr/attendre.md",
        "raison\u{a0}?",
        "raison ?",
        &expect!["fr/attendre.md:38: French: a no-break space (U+00A0) is expected before `?`"],
    );
    check(
        "fr/attendre.md",
        "Rien ne presse.",
        "Rien «ne» presse",
        &expect!["fr/attendre.md:33: French: a no-break space (U+00A0) is expected after `«`"],
    );
}

#[test]
fn straight_apostrophes() {
    check(
        "en/messages.ftl",
        "You read",
        "You've read",
        &expect!["en/messages.ftl:11: the apostrophe of running text is `’` (U+2019)"],
    );
    check(
        "fr/attendre.md",
        "Rien ne presse.",
        "Rien n'y presse.",
        &expect!["fr/attendre.md:33: the apostrophe of running text is `’` (U+2019)"],
    );
}

#[test]
fn code_and_links_keep_their_own_signs() {
    check(
        "fr/attendre.md",
        "Rien ne presse.",
        "À 10:30, `a: b`, `l'un`, https://exemple.fr/a?b",
        &expect!["no finding"],
    );
}

#[test]
fn raw_html_and_images() {
    check(
        "fr/attendre.md",
        "Rien ne presse.",
        "<script>alert(1)</script>",
        &expect![[
            r#"fr/attendre.md:33: raw HTML is refused; write `<` as `\<` or use a code span"#
        ]],
    );
    check(
        "fr/attendre.md",
        "Rien ne presse.",
        "![x](https://exemple.fr/x.png)",
        &expect!["fr/attendre.md:33: images are not part of a step's text"],
    );
}

#[test]
fn links_that_lead_nowhere() {
    check(
        "fr/attendre.md",
        "(file:job.yaml)",
        "(file:../etc/passwd)",
        &expect!["fr/attendre.md:3: link to `../etc/passwd`, which is not in files/"],
    );
    check(
        "fr/attendre.md",
        "(file:job.yaml)",
        "(step:ailleurs)",
        &expect!["fr/attendre.md:3: link to unknown step `ailleurs`"],
    );
    check(
        "fr/attendre.md",
        "(file:job.yaml)",
        "(javascript:alert(1))",
        &expect![
            "fr/attendre.md:3: link `javascript:alert(1)`: expected https://…, #section, step:ID or file:PATH"
        ],
    );
    check(
        "fr/attendre.md",
        "(file:job.yaml)",
        "(http://exemple.fr)",
        &expect![
            "fr/attendre.md:3: link `http://exemple.fr`: expected https://…, #section, step:ID or file:PATH"
        ],
    );
}

#[test]
fn unknown_directives_and_fences() {
    check(
        "fr/attendre.md",
        ":::note",
        ":::notte",
        &expect!["fr/attendre.md:32: unknown directive `:::notte`; did you mean `note`?"],
    );
    check(
        "fr/attendre.md",
        "```bash run",
        "```bash runn",
        &expect![[r#"
        en/attendre.md: `run` blocks differ between languages: 0 in fr, 1 in en
        fr/attendre.md:14: unknown fence `bash runn`; expected `LANG`, `LANG run`, `LANG file=PATH`, `LANG output` or `LANG diagram CAPTION`"#]],
    );
    check(
        "fr/attendre.md",
        "```yaml file=job.yaml",
        "```yaml file=jobs.yaml",
        &expect!["fr/attendre.md:18: `file=jobs.yaml`: there is no files/jobs.yaml"],
    );
    check(
        "fr/attendre.md",
        "Un premier pas",
        "",
        &expect!["fr/attendre.md:29: `:::hint` needs a title that makes one want to unfold it"],
    );
}

#[test]
fn a_run_block_inside_a_list() {
    check(
        "fr/attendre.md",
        "Rien ne presse.",
        "- d’abord\n\n  ```bash run\n  true\n  ```",
        &expect!["fr/attendre.md:35: `bash run` inside a list or quotation: end it first"],
    );
}

#[test]
fn commands_that_differ_between_languages() {
    check(
        "en/attendre.md",
        "kubectl apply -f job.yaml",
        "kubectl create -f job.yaml",
        &expect![
            "en/attendre.md: `run` blocks differ between languages: `kubectl apply -f job.yaml` in fr, `kubectl create -f job.yaml` in en"
        ],
    );
}

#[test]
fn a_page_without_title() {
    check(
        "fr/attendre.md",
        "# Attendre",
        "Attendre",
        &expect!["fr/attendre.md:1: expected the step's title as `# …` on the first line"],
    );
}

#[test]
fn questions_left_out_twice_or_invented() {
    check(
        "fr/attendre.md",
        ":::question raison",
        ":::question reason",
        &expect![[r#"
        fr/attendre.md: question `raison` is not asked; expected `:::question raison`
        fr/attendre.md:37: question `reason` is not in this step of lab.yaml"#]],
    );
    check(
        "fr/attendre.md",
        "- `second` Le second",
        "- `deux` Le second",
        &expect![
            "fr/attendre.md:7: question `lequel`: expected the choices premier, second, found premier, deux"
        ],
    );
    check(
        "fr/attendre.md",
        "- `second` Le second",
        "- Le second",
        &expect![[r#"
        fr/attendre.md:7: question `lequel`: expected the choices premier, second, found premier
        fr/attendre.md:11: a choice begins with its id in back-quotes: - `id` text"#]],
    );
    let twice = format!("{PAGE_FR}\n:::question raison\nEncore\n:::\n");
    check(
        "fr/attendre.md",
        PAGE_FR,
        &twice,
        &expect!["fr/attendre.md: question `raison` is asked twice"],
    );
}

#[test]
fn files_that_nobody_reads() {
    check(
        "fr/attendres.md",
        "",
        "# x",
        &expect![
            "fr/attendres.md: is not part of a lab: no step of that name, or an unknown folder"
        ],
    );
    check(
        "notes.txt",
        "",
        "x",
        &expect!["notes.txt: is not part of a lab; see labs/FORMAT.md"],
    );
}

#[test]
fn trials_that_name_what_is_not_there() {
    check(
        "solution/answers.yaml",
        "lequel",
        "laquelle",
        &expect!["solution/answers.yaml: there is no question `laquelle` in lab.yaml"],
    );
    check(
        "wrong/trop/expect.yaml",
        "breaks: dix-secondes",
        "breaks: onze-secondes",
        &expect!["wrong/trop/expect.yaml:1: expectation: there is no criterion `onze-secondes`"],
    );
    check(
        "wrong/trop/expect.yaml",
        "says: quota",
        "says: quotas",
        &expect![
            "wrong/trop/expect.yaml:1: expectation: criterion `dix-secondes` has no hint `quotas`"
        ],
    );
    check(
        "wrong/autre/run.sh",
        "",
        "true",
        &expect!["wrong/autre/expect.yaml: is missing: which criterion must refuse this"],
    );
}

#[test]
fn an_expectation_reads() {
    let rules = Lab::rules_only(
        crate::sample::RULES,
        &Known {
            profiles: vec!["petit".to_owned()],
        },
    )
    .expect("rules");
    let read = Expectation::read(
        "expect.yaml",
        "breaks: dix-secondes\nstate: waiting\nreason: no-subject\n",
        &rules,
    );
    let expectation = read.expect("an expectation");
    assert_eq!(
        (expectation.breaks.as_str(), expectation.settle.as_secs()),
        ("dix-secondes", 30)
    );
}
