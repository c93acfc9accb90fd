//! One criterion's statement: which of the ten words it uses, and the companions of that word.

use super::{
    fields::Fields,
    moment::{moment, objects, state, taken},
    tree::{Node, Tree},
};
use crate::{
    finding::Findings,
    ids::QuestionId,
    moment::Moment,
    rules::{Expected, ObjectRule, Rule, RuleKind},
};

/// What names without a namespace mean, and the file for complaints.
pub(super) struct Reader<'a> {
    pub(super) file: &'a str,
    pub(super) namespace: String,
}

const WORDS: &[&str] = &[
    "answer", "object", "reaches", "stays", "never", "order", "caused", "count", "all", "any",
];

pub(super) fn rule(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<Rule> {
    let words: Vec<&str> = WORDS
        .iter()
        .copied()
        .filter(|word| fields.has(word))
        .collect();
    let line = fields.line;
    let word = match words.as_slice() {
        [word] => *word,
        [] => {
            fields.complain(
                findings,
                line,
                format!("says nothing; expected one of: {}", WORDS.join(", ")),
            );
            fields.forget();
            return None;
        }
        several => {
            fields.complain(
                findings,
                line,
                format!(
                    "says two things: {}; join them with `all:`",
                    several.join(" and ")
                ),
            );
            fields.forget();
            return None;
        }
    };
    let kind = match word {
        "answer" => answer(reader, fields, findings),
        "object" => object(reader, fields, findings),
        "reaches" => reaches(reader, fields, findings),
        "stays" => stays(reader, fields, findings),
        "never" => never(reader, fields, findings),
        "order" => order(reader, fields, findings),
        "caused" => caused(reader, fields, findings),
        "count" => count(reader, fields, findings),
        "all" => several(reader, fields, "all", findings).map(RuleKind::All),
        _ => several(reader, fields, "any", findings).map(RuleKind::Any),
    };
    let after = optional(reader, fields, "after", findings);
    Some(Rule { after, kind: kind? })
}

fn required(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
    findings: &mut Findings,
) -> Option<Moment> {
    let node = fields.need(key, findings)?;
    moment(reader, node, &format!("{}, `{key}`", fields.what), findings)
}

fn optional(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
    findings: &mut Findings,
) -> Option<Moment> {
    let node = fields.take(key)?;
    moment(reader, node, &format!("{}, `{key}`", fields.what), findings)
}

fn answer(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<RuleKind> {
    let question = fields.need_text("answer", findings);
    let before = optional(reader, fields, "before", findings);
    let expected = expected(reader, fields, findings);
    let (text, line) = question?;
    let question = QuestionId::new(&text);
    if question.is_none() {
        fields.complain(
            findings,
            line,
            format!("`answer: {text}` is not a question id"),
        );
    }
    Some(RuleKind::Answer {
        question: question?,
        expected: expected?,
        before,
    })
}

fn expected(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<Expected> {
    let equals = fields.take("equals").map(|node| vec![node.json()]);
    let one_of: Vec<_> = fields
        .list("one-of", findings)
        .iter()
        .map(Node::json)
        .collect();
    let set: Vec<String> = fields
        .texts("set", findings)
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    let tolerance = fields
        .number("tolerance", 1, findings)
        .map_or(0.0, f64::from);
    let given = fields.flag("given", findings);
    let same = match fields.take("same-as") {
        Some(node) => Some(taken(
            reader,
            node,
            &format!("{}, `same-as`", fields.what),
            findings,
        )?),
        None => None,
    };
    let mut found = Vec::new();
    found.extend(equals.map(Expected::OneOf));
    found.extend((!one_of.is_empty()).then_some(Expected::OneOf(one_of)));
    found.extend((!set.is_empty()).then_some(Expected::Set(set)));
    found.extend(same.map(|(moment, take)| Expected::SameAs {
        moment,
        take,
        tolerance,
    }));
    found.extend((given == Some(true)).then_some(Expected::Given));
    if found.len() != 1 {
        let line = fields.line;
        fields.complain(
            findings,
            line,
            "an answer needs exactly one of `equals`, `one-of`, `set`, `same-as`, `given: true`",
        );
        return None;
    }
    found.pop()
}

fn object(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<RuleKind> {
    let objects = objects(reader, fields, "object", findings);
    if !fields.has("holds") {
        fields.need("holds", findings);
    }
    let holds = fields.predicate("holds", findings);
    let hold = fields.duration("for", findings);
    let level = fields.flag("level", findings).unwrap_or(false);
    let every = fields.flag("every", findings).unwrap_or(false);
    if every && !level {
        let line = fields.line;
        fields.complain(
            findings,
            line,
            "`every: true` speaks of the present: add `level: true`",
        );
    }
    if level && hold.is_some() {
        let line = fields.line;
        fields.complain(findings, line, "`level` and `for` exclude each other");
    }
    Some(RuleKind::Object(ObjectRule {
        objects: objects?,
        holds: holds?,
        hold,
        level,
        every,
    }))
}

fn reaches(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<RuleKind> {
    let moment = required(reader, fields, "reaches", findings);
    let within = fields.duration("within", findings);
    let since = optional(reader, fields, "since", findings);
    if since.is_some() && within.is_none() {
        let line = fields.line;
        fields.complain(findings, line, "`since` needs `within`");
    }
    Some(RuleKind::Reaches {
        moment: moment?,
        within,
        since,
    })
}

fn stays(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<RuleKind> {
    let node = fields.need("stays", findings)?;
    let state = state(reader, node, &format!("{}, `stays`", fields.what), findings);
    if !fields.has("for") {
        fields.need("for", findings);
    }
    let hold = fields.duration("for", findings);
    Some(RuleKind::Stays {
        state: state?,
        hold: hold?,
    })
}

fn never(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<RuleKind> {
    let moment = required(reader, fields, "never", findings);
    let until = optional(reader, fields, "until", findings);
    if until.is_none() && matches!(moment, Some(Moment::Object(_) | Moment::Answered(_))) {
        let line = fields.line;
        fields.complain(findings, line, "`never` about an object needs `until`");
    }
    Some(RuleKind::Never {
        moment: moment?,
        until,
    })
}

fn order(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<RuleKind> {
    let what = format!("{}, `order`", fields.what);
    let nodes = fields.list("order", findings);
    if nodes.len() < 2 {
        let line = fields.line;
        fields.complain(findings, line, "`order` needs at least two moments");
    }
    let moments: Vec<Moment> = nodes
        .iter()
        .filter_map(|node| moment(reader, node, &what, findings))
        .collect();
    let within = fields.duration("within", findings);
    (moments.len() == nodes.len() && nodes.len() >= 2)
        .then_some(RuleKind::Order { moments, within })
}

fn caused(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<RuleKind> {
    let moment = required(reader, fields, "caused", findings);
    let by = required(reader, fields, "by", findings);
    if matches!(moment, Some(Moment::Object(_) | Moment::Answered(_))) {
        let line = fields.line;
        fields.complain(findings, line, "`caused` explains a moment of a job");
    }
    Some(RuleKind::Caused {
        moment: moment?,
        by: by?,
    })
}

fn count(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<RuleKind> {
    let moment = required(reader, fields, "count", findings);
    let at_least = fields.number("at-least", 1, findings);
    let at_most = fields.number("at-most", 0, findings);
    let until = optional(reader, fields, "until", findings);
    let line = fields.line;
    if at_least.is_none() && at_most.is_none() {
        fields.complain(
            findings,
            line,
            "`count` needs `at-least`, `at-most` or both",
        );
    }
    if at_most.is_some() && until.is_none() {
        fields.complain(
            findings,
            line,
            "`at-most` needs `until`: before that, more may still come",
        );
    }
    Some(RuleKind::Count {
        moment: moment?,
        at_least,
        at_most,
        until,
    })
}

fn several(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
    findings: &mut Findings,
) -> Option<Vec<Rule>> {
    let node = fields.need(key, findings)?;
    let Tree::Seq(items) = &node.tree else {
        fields.complain(
            findings,
            node.line,
            format!("`{key}` must be a list of statements"),
        );
        return None;
    };
    if items.is_empty() {
        fields.complain(
            findings,
            node.line,
            format!("`{key}` needs at least one statement"),
        );
        return None;
    }
    let mut rules = Vec::new();
    for item in items {
        let mut inner = Fields::of(reader.file, item, &fields.what, findings)?;
        let found = rule(reader, &mut inner, findings);
        inner.finish(findings);
        rules.push(found?);
    }
    Some(rules)
}
