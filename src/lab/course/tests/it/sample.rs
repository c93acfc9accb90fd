//! A small lab that is right in everything; tests of faults change one thing in it.

use course::{
    Block, CalloutKind, FoldKind, Known, Lab, LabSource, Language, QuestionKind, StepId, Telling,
};
use std::collections::BTreeMap;

pub(crate) const RULES: &str = "\
format: 1
id: essai
day: 1
half: am
minutes: 60
profile: petit
namespace: equipe-vision
steps:
  - id: attendre
    minutes: 20
    questions:
      - { id: lequel, kind: choice, choices: [premier, second], prediction: true }
      - { id: raison, kind: text }
    criteria:
      - id: dix-secondes
        points: 2
        stays: { job: chiffres-3, is: queued }
        for: 10s
        hints:
          - say: quota
            if: { object: ClusterQueue/vision, holds: 'quantity(spec.resourceGroups[0].flavors[0].resources[0].nominalQuota) > 4.0', level: true }
            show: 'spec.resourceGroups[0].flavors[0].resources[0].nominalQuota'
      - { id: prevoir, points: 1, answer: lequel, given: true, before: { job: chiffres-3, becomes: queued } }
      - { id: lire, points: 1, answer: raison, same-as: { job: chiffres-3, becomes: queued, take: reason } }
";

pub(crate) const FR: &str = "\
lab-title = Un essai
lab-summary = Attendre son tour.
lab-goals = Attendre\u{a0}; lire
dix-secondes = Le Job attend
    .waiting = Soumettez { $job }.
    .failed = Il n’a pas attendu\u{a0}: pourquoi\u{a0}?
    .failed-deleted = Supprimé.
    .passed = Attendu { $seconds } s.
    .say-quota = Le quota est de { $value }.
prevoir = Vous avez prévu
    .waiting = Répondez d’abord.
    .failed = Trop tard.
lire = Vous avez lu
    .waiting = Répondez.
    .failed = Ce n’est pas { $given }.
";

pub(crate) const EN: &str = "\
lab-title = A trial
lab-summary = Waiting for one’s turn.
lab-goals = Waiting; reading
dix-secondes = The Job waits
    .waiting = Submit { $job }.
    .failed = It did not wait.
    .say-quota = The quota is { $value }.
prevoir = You predicted
    .waiting = Answer first.
    .failed = Too late.
lire = You read
    .waiting = Answer.
    .failed = It is not { $given }.
";

pub(crate) const PAGE_FR: &str = "\
# Attendre

Voyez [la fiche](file:job.yaml) et [la documentation](https://kubernetes.io/docs).

## Avant\u{a0}: prévoir

:::question lequel
Lequel attend\u{a0}?

- `premier` Le **premier**
- `second` Le second
:::

```bash run
kubectl apply -f job.yaml
```

```yaml file=job.yaml
```

```text output
job.batch/chiffres-3 created
```

```text diagram Deux Jobs devant une file
[a] [b] -> [file]
```

:::::hint Un premier pas
Regardez les événements.

:::note
Rien ne presse.
:::
:::::

:::question raison
Quelle est la raison\u{a0}?
:::
";

pub(crate) const PAGE_EN: &str = "\
# Waiting

:::question lequel
Which one waits?

- `premier` The first
- `second` The second
:::

```bash run
kubectl apply -f job.yaml
```

:::question raison
What is the reason?
:::
";

pub(crate) fn known() -> Known {
    Known {
        profiles: vec!["petit".to_owned()],
    }
}

pub(crate) fn source() -> LabSource {
    let files = [
        ("lab.yaml", RULES),
        ("fr/messages.ftl", FR),
        ("en/messages.ftl", EN),
        ("fr/attendre.md", PAGE_FR),
        ("en/attendre.md", PAGE_EN),
        ("files/job.yaml", "kind: Job\n"),
        ("solution/run.sh", "true\n"),
        ("solution/answers.yaml", "lequel: second\n"),
        ("wrong/trop/run.sh", "true\n"),
        (
            "wrong/trop/expect.yaml",
            "breaks: dix-secondes\nsays: quota\nsettle: 5s\n",
        ),
    ];
    let files: BTreeMap<String, String> = files
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .collect();
    LabSource {
        folder: "essai".to_owned(),
        files,
    }
}

#[test]
fn the_sample_reads() {
    let lab = Lab::read(&source(), &known()).unwrap_or_else(|findings| panic!("{findings}"));
    assert_eq!(lab.rules.points(), 4);
    let fr = lab.texts(Language::Fr);
    assert_eq!(fr.goals(), ["Attendre", "lire"]);
    let page = fr
        .page(&StepId::new("attendre").expect("id"))
        .expect("page");
    assert_eq!(page.title, "Attendre");
    assert_eq!(
        page.sections().collect::<Vec<_>>(),
        [("avant-prévoir", "Avant\u{a0}: prévoir")]
    );
    assert_eq!(page.commands(), ["kubectl apply -f job.yaml"]);
    let shape: Vec<&str> = page.blocks.iter().map(name).collect();
    let expected = [
        "html", "heading", "question", "run", "listing", "output", "diagram", "fold", "question",
    ];
    assert_eq!(shape, expected);
}

fn name(block: &Block) -> &'static str {
    match block {
        Block::Html(_) => "html",
        Block::Heading { .. } => "heading",
        Block::Command { run: true, .. } => "run",
        Block::Command { run: false, .. } => "command",
        Block::Listing(_) => "listing",
        Block::Output { .. } => "output",
        Block::Diagram { .. } => "diagram",
        Block::Question { .. } => "question",
        Block::Fold { .. } => "fold",
        Block::Callout { .. } => "callout",
    }
}

#[test]
fn blocks_hold_what_was_written() {
    let lab = Lab::read(&source(), &known()).expect("a lab");
    let page = lab
        .texts(Language::Fr)
        .page(&StepId::new("attendre").expect("id"))
        .expect("page");
    let Block::Html(html) = &page.blocks[0] else {
        panic!("html first")
    };
    assert_eq!(
        html.as_str().trim(),
        "<p>Voyez <a href=\"#file:job.yaml\" rel=\"noopener noreferrer\">la fiche</a> et \
         <a href=\"https://kubernetes.io/docs\" rel=\"noopener noreferrer\">la documentation</a>.</p>"
    );
    let Block::Question {
        kind,
        prediction,
        prompt,
        choices,
        ..
    } = &page.blocks[2]
    else {
        panic!("question")
    };
    assert!(*prediction && matches!(kind, QuestionKind::Choice(ids) if ids.len() == 2));
    assert_eq!(
        prompt.as_str().trim(),
        "<p>Lequel attend\u{a0}?</p>".replace('\u{a0}', "&nbsp;")
    );
    assert_eq!(
        (choices[0].id.as_str(), choices[0].label.as_str()),
        ("premier", "Le <strong>premier</strong>")
    );
    let Block::Listing(listing) = &page.blocks[4] else {
        panic!("listing")
    };
    assert_eq!(
        (listing.file.as_deref(), listing.text.as_str()),
        (Some("job.yaml"), "kind: Job")
    );
    let Block::Fold {
        kind,
        title,
        blocks,
    } = &page.blocks[7]
    else {
        panic!("fold")
    };
    assert_eq!((*kind, title.as_str()), (FoldKind::Hint, "Un premier pas"));
    assert!(matches!(
        &blocks[1],
        Block::Callout {
            kind: CalloutKind::Note,
            ..
        }
    ));
}

#[test]
fn the_most_particular_text_is_told() {
    let lab = Lab::read(&source(), &known()).expect("a lab");
    let mut args = course::Args::new();
    for (name, value) in [
        ("job", "chiffres-3"),
        ("subject", "chiffres-3"),
        ("value", "9"),
    ] {
        args.insert(name.to_owned(), value.into());
    }
    args.insert("seconds".to_owned(), 12.into());
    args.insert("wanted".to_owned(), 10.into());
    let told = |language, state, reason, say| {
        let telling = Telling {
            state,
            reason,
            say,
            args: &args,
        };
        let text = lab.texts(language).criterion("dix-secondes", &telling);
        format!("{} | {} | {}", text.title, text.text, text.detail)
    };
    use Language::{En, Fr};
    let cases = [
        (
            told(Fr, "pending", "no-subject", None),
            "Le Job attend | Soumettez chiffres-3. | Rien de ce nom n’a encore été vu\u{a0}: chiffres-3.",
        ),
        (
            told(Fr, "failed", "too-short", None),
            "Le Job attend | Il n’a pas attendu\u{a0}: pourquoi\u{a0}? | chiffres-3 n’y est resté que 12 s sur 10 s.",
        ),
        (
            told(Fr, "failed", "deleted", None),
            "Le Job attend | Supprimé. | chiffres-3 a été supprimé avant.",
        ),
        (
            told(Fr, "failed", "deleted", Some("quota")),
            "Le Job attend | Le quota est de 9. | chiffres-3 a été supprimé avant.",
        ),
        (
            told(En, "failed", "deleted", None),
            "The Job waits | It did not wait. | chiffres-3 was deleted before.",
        ),
        (
            told(Fr, "passed", "passed", None),
            "Le Job attend | Attendu 12 s. | Constaté.",
        ),
        (
            told(En, "passed", "passed", None),
            "The Job waits |  | Seen.",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}
