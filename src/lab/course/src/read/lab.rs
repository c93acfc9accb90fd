//! The outer part of `lab.yaml`: environment, steps, questions; criteria go to `rule`.

use super::{
    fields::Fields,
    rule::{self, Reader},
    tree::Node,
};
use crate::{
    finding::{Findings, suggestion},
    ids::{CriterionId, LabId, QuestionId, StepId},
    rules::{Criterion, Half, Hint, LabRules, Question, QuestionKind, Step},
};

/// Reads the text of a `lab.yaml`. Findings are added; the rules come back whenever enough is there to go on checking.
pub(crate) fn rules(
    file: &str,
    text: &str,
    profiles: &[String],
    findings: &mut Findings,
) -> Option<LabRules> {
    let node = match Node::parse(text) {
        Ok(node) => node,
        Err((line, reason)) => {
            findings.add(file, line, reason);
            return None;
        }
    };
    let mut fields = Fields::of(file, &node, "lab", findings)?;
    match fields.need_number("format", 1, findings) {
        Some(1) | None => {}
        Some(other) => fields.complain(
            findings,
            node.line,
            format!("format {other} is not known; this version reads format 1"),
        ),
    }
    let id = id(&mut fields, LabId::new, findings);
    let day = fields
        .need_number("day", 1, findings)
        .filter(|day| within_course(*day, &fields, findings));
    let half = half(&mut fields, findings);
    let minutes = fields.need_number("minutes", 1, findings);
    let profile = profile(&mut fields, profiles, findings);
    let namespace = fields
        .need_text("namespace", findings)
        .map(|(text, _)| text);
    let setup = fields
        .texts("setup", findings)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let nodes = match fields.need("steps", findings) {
        Some(Node {
            tree: super::Tree::Seq(items),
            ..
        }) if !items.is_empty() => items.as_slice(),
        Some(other) => {
            fields.complain(
                findings,
                other.line,
                "`steps` must be a list with at least one step",
            );
            &[]
        }
        None => &[],
    };
    let reader = Reader {
        file,
        namespace: namespace.clone().unwrap_or_default(),
    };
    let steps: Vec<Step> = nodes
        .iter()
        .filter_map(|node| step(&reader, node, findings))
        .collect();
    fields.finish(findings);
    unique(file, &steps, findings);
    let day = u8::try_from(day?).ok()?;
    Some(LabRules {
        id: id?,
        day,
        half: half?,
        minutes: minutes?,
        profile: profile?,
        namespace: namespace?,
        setup,
        steps,
    })
}

fn within_course(day: u32, fields: &Fields<'_>, findings: &mut Findings) -> bool {
    if day > 3 {
        fields.complain(
            findings,
            fields.line,
            format!("day {day} is not one of the three days"),
        );
    }
    day <= 3
}

fn id<T>(
    fields: &mut Fields<'_>,
    make: fn(&str) -> Option<T>,
    findings: &mut Findings,
) -> Option<T> {
    let (text, line) = fields.need_text("id", findings)?;
    let id = make(&text);
    if id.is_none() {
        fields.complain(
            findings,
            line,
            format!("id `{text}` must be kebab-case: a-z, 0-9 and inner hyphens"),
        );
    }
    id
}

fn half(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<Half> {
    let (text, line) = fields.need_text("half", findings)?;
    match text.as_str() {
        "am" => Some(Half::Am),
        "pm" => Some(Half::Pm),
        other => {
            fields.complain(findings, line, format!("`half: {other}` must be am or pm"));
            None
        }
    }
}

fn profile(fields: &mut Fields<'_>, known: &[String], findings: &mut Findings) -> Option<String> {
    let (text, line) = fields.need_text("profile", findings)?;
    if !known.contains(&text) {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        fields.complain(
            findings,
            line,
            format!("unknown profile `{text}`; {}", suggestion(&text, &known)),
        );
    }
    Some(text)
}

fn step(reader: &Reader<'_>, node: &Node, findings: &mut Findings) -> Option<Step> {
    let mut fields = Fields::of(reader.file, node, "step", findings)?;
    let id = id(&mut fields, StepId::new, findings);
    if let Some(id) = &id {
        fields.what = format!("step `{id}`");
    }
    let minutes = fields.need_number("minutes", 1, findings);
    let questions: Vec<Question> = fields
        .list("questions", findings)
        .iter()
        .filter_map(|node| question(reader, node, findings))
        .collect();
    let criteria = fields.list("criteria", findings);
    if criteria.is_empty() {
        fields.complain(
            findings,
            node.line,
            "has no criteria; a step is something that can be recognised",
        );
    }
    let criteria = criteria
        .iter()
        .filter_map(|node| criterion(reader, node, findings))
        .collect();
    fields.finish(findings);
    Some(Step {
        id: id?,
        minutes: minutes?,
        questions,
        criteria,
    })
}

fn question(reader: &Reader<'_>, node: &Node, findings: &mut Findings) -> Option<Question> {
    let mut fields = Fields::of(reader.file, node, "question", findings)?;
    let id = id(&mut fields, QuestionId::new, findings);
    if let Some(id) = &id {
        fields.what = format!("question `{id}`");
    }
    let kind = fields.need_text("kind", findings);
    let choices: Vec<String> = fields
        .texts("choices", findings)
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    let prediction = fields.flag("prediction", findings).unwrap_or(false);
    let (kind, line) = kind?;
    let wants_choices = kind.starts_with("choice");
    if wants_choices && choices.len() < 2 {
        fields.complain(findings, line, "needs at least two `choices`");
    }
    if !wants_choices && !choices.is_empty() {
        fields.complain(
            findings,
            line,
            format!("`choices` belong to kind choice or choices, not to {kind}"),
        );
    }
    if let Some(bad) = choices.iter().find(|choice| !crate::ids::is_kebab(choice)) {
        fields.complain(findings, line, format!("choice `{bad}` must be kebab-case"));
    }
    let kind = match kind.as_str() {
        "number" => QuestionKind::Number,
        "text" => QuestionKind::Text,
        "choice" => QuestionKind::Choice(choices),
        "choices" => QuestionKind::Choices(choices),
        other => {
            let hint = suggestion(other, &["number", "text", "choice", "choices"]);
            fields.complain(findings, line, format!("unknown kind `{other}`; {hint}"));
            return None;
        }
    };
    fields.finish(findings);
    Some(Question {
        id: id?,
        kind,
        prediction,
    })
}

fn criterion(reader: &Reader<'_>, node: &Node, findings: &mut Findings) -> Option<Criterion> {
    let mut fields = Fields::of(reader.file, node, "criterion", findings)?;
    let id = id(&mut fields, CriterionId::new, findings);
    if let Some(id) = &id {
        fields.what = format!("criterion `{id}`");
    }
    let points = fields.need_number("points", 1, findings);
    let what = fields.what.clone();
    let hints = fields
        .list("hints", findings)
        .iter()
        .filter_map(|node| hint(reader, &what, node, findings))
        .collect();
    let rule = rule::rule(reader, &mut fields, findings);
    let line = fields.line;
    fields.finish(findings);
    Some(Criterion {
        id: id?,
        points: points?,
        rule: rule?,
        hints,
        line,
    })
}

fn hint(reader: &Reader<'_>, owner: &str, node: &Node, findings: &mut Findings) -> Option<Hint> {
    let mut fields = Fields::of(reader.file, node, &format!("hint of {owner}"), findings)?;
    let say = fields.need_text("say", findings);
    let condition = fields.need("if", findings);
    let show = fields.predicate("show", findings);
    fields.finish(findings);
    let mut inner = Fields::of(
        reader.file,
        condition?,
        &format!("hint of {owner}"),
        findings,
    )?;
    let rule = rule::rule(reader, &mut inner, findings);
    inner.finish(findings);
    let (say, line) = say?;
    if !crate::ids::is_kebab(&say) {
        findings.add(
            reader.file,
            line,
            format!("hint of {owner}: `say: {say}` must be kebab-case"),
        );
    }
    Some(Hint {
        say,
        rule: rule?,
        show,
    })
}

/// Steps, questions and criteria each have names of their own in the lab.
fn unique(file: &str, steps: &[Step], findings: &mut Findings) {
    let mut seen: Vec<(&str, String)> = Vec::new();
    let mut note = |sort: &'static str, id: String, line: u32, findings: &mut Findings| {
        let entry = (sort, id);
        if seen.contains(&entry) {
            findings.add(
                file,
                line,
                format!(
                    "{sort} `{}` appears twice; ids are unique in the lab",
                    entry.1
                ),
            );
        } else {
            seen.push(entry);
        }
    };
    for step in steps {
        note("step", step.id.to_string(), 0, findings);
        for question in &step.questions {
            note("question", question.id.to_string(), 0, findings);
        }
        for criterion in &step.criteria {
            note(
                "criterion",
                criterion.id.to_string(),
                criterion.line,
                findings,
            );
        }
    }
}
