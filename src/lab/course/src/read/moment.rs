//! Moments, states, filters and the names of jobs and objects.

use super::{
    fields::Fields,
    rule::Reader,
    tree::{Node, Tree},
};
use crate::{
    finding::{Findings, suggestion},
    ids::QuestionId,
    kinds::{JOB_KINDS, KINDS, kind_named},
    moment::{
        FactName, Filter, JobMoment, JobRef, JobResult, JobSet, Moment, ObjectChange, ObjectMoment,
        ObjectRef, ObjectSet, Pattern, StateName, StatePattern, Take,
    },
};

pub(super) fn moment(
    reader: &Reader<'_>,
    node: &Node,
    what: &str,
    findings: &mut Findings,
) -> Option<Moment> {
    let mut fields = Fields::of(reader.file, node, what, findings)?;
    let moment = moment_fields(reader, &mut fields, findings);
    fields.finish(findings);
    moment
}

/// `{ job: …, becomes: …, take: … }`: a moment and what to take from it.
pub(super) fn taken(
    reader: &Reader<'_>,
    node: &Node,
    what: &str,
    findings: &mut Findings,
) -> Option<(Moment, Take)> {
    let mut fields = Fields::of(reader.file, node, what, findings)?;
    let take = word(&mut fields, "take", Take::WORDS, Take::from_word, findings);
    let moment = moment_fields(reader, &mut fields, findings);
    fields.finish(findings);
    Some((moment?, take?))
}

fn moment_fields(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    findings: &mut Findings,
) -> Option<Moment> {
    if fields.has("job") {
        let jobs = jobs(reader, fields, "job", findings);
        let becomes = word(
            fields,
            "becomes",
            FactName::WORDS,
            FactName::from_word,
            findings,
        );
        let filter = filter(reader, fields, findings);
        return Some(Moment::Job(JobMoment {
            jobs: jobs?,
            becomes: becomes?,
            filter,
        }));
    }
    if fields.has("object") {
        let objects = objects(reader, fields, "object", findings);
        let change = change(fields, findings);
        return Some(Moment::Object(ObjectMoment {
            objects: objects?,
            change: change?,
        }));
    }
    if let Some((text, line)) = fields.text("answered", findings) {
        let question = QuestionId::new(&text);
        if question.is_none() {
            fields.complain(
                findings,
                line,
                format!("`answered: {text}` is not a question id"),
            );
        }
        return question.map(Moment::Answered);
    }
    let line = fields.line;
    fields.complain(
        findings,
        line,
        "a moment begins with `job:`, `object:` or `answered:`",
    );
    None
}

fn change(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<ObjectChange> {
    if fields.has("holds") {
        return fields.predicate("holds", findings).map(ObjectChange::Holds);
    }
    if let Some((path, _)) = fields.text("changes", findings) {
        return Some(ObjectChange::Changes(path));
    }
    let Some((text, line)) = fields.text("becomes", findings) else {
        let line = fields.line;
        fields.complain(
            findings,
            line,
            "a moment of an object needs `holds`, `changes` or `becomes`",
        );
        return None;
    };
    match text.as_str() {
        "created" => Some(ObjectChange::Created),
        "deleted" => Some(ObjectChange::Deleted),
        other => {
            fields.complain(
                findings,
                line,
                format!("`becomes: {other}`: an object becomes created or deleted"),
            );
            None
        }
    }
}

pub(super) fn state(
    reader: &Reader<'_>,
    node: &Node,
    what: &str,
    findings: &mut Findings,
) -> Option<StatePattern> {
    let mut fields = Fields::of(reader.file, node, what, findings)?;
    let jobs = if fields.has("job") {
        jobs(reader, &mut fields, "job", findings)
    } else {
        None
    };
    if jobs.is_none() && !fields.has("job") {
        let line = fields.line;
        fields.complain(findings, line, "a state needs `job:`");
    }
    let is = word(
        &mut fields,
        "is",
        StateName::WORDS,
        StateName::from_word,
        findings,
    );
    let filter = filter(reader, &mut fields, findings);
    fields.finish(findings);
    Some(StatePattern {
        jobs: jobs?,
        is: is?,
        filter,
    })
}

fn filter(reader: &Reader<'_>, fields: &mut Fields<'_>, findings: &mut Findings) -> Filter {
    let mut list = |key: &'static str, fields: &mut Fields<'_>| -> Vec<String> {
        fields
            .texts(key, findings)
            .into_iter()
            .map(|(text, _)| text)
            .collect()
    };
    let reason = list("reason", fields);
    let flavor = list("flavor", fields);
    let cluster_queue = list("cluster-queue", fields);
    let local_queue = list("local-queue", fields);
    let message = fields.text("message", findings).map(|(text, _)| text);
    let node = fields
        .text("node", findings)
        .map(|(text, _)| Pattern::new(&text));
    let by = if fields.has("by") {
        jobs(reader, fields, "by", findings)
    } else {
        None
    };
    let result = if fields.has("result") {
        word(
            fields,
            "result",
            JobResult::WORDS,
            JobResult::from_word,
            findings,
        )
    } else {
        None
    };
    let borrows = fields.flag("borrows", findings);
    Filter {
        reason,
        message,
        flavor,
        cluster_queue,
        local_queue,
        node,
        by,
        result,
        borrows,
    }
}

pub(super) fn word<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    words: &[&str],
    from: fn(&str) -> Option<T>,
    findings: &mut Findings,
) -> Option<T> {
    let (text, line) = fields.need_text(key, findings)?;
    let found = from(&text);
    if found.is_none() {
        fields.complain(
            findings,
            line,
            format!("unknown `{key}: {text}`; {}", suggestion(&text, words)),
        );
    }
    found
}

fn jobs(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
    findings: &mut Findings,
) -> Option<JobSet> {
    let names = fields.texts(key, findings);
    let mut jobs = Vec::new();
    for (name, line) in names {
        match job(reader, &name) {
            Ok(job) => jobs.push(job),
            Err(reason) => fields.complain(findings, line, format!("`{key}: {name}`: {reason}")),
        }
    }
    (!jobs.is_empty()).then_some(JobSet(jobs))
}

fn job(reader: &Reader<'_>, text: &str) -> Result<JobRef, String> {
    let mut parts: Vec<&str> = text.split('/').collect();
    let kind = match parts.first() {
        Some(first) if first.starts_with(|c: char| c.is_ascii_uppercase()) => parts.remove(0),
        _ => "Job",
    };
    if !JOB_KINDS.contains(&kind) {
        return Err(format!(
            "kind `{kind}` is not a job kind; {}",
            suggestion(kind, JOB_KINDS)
        ));
    }
    let (namespace, name) = match parts.as_slice() {
        [name] => (reader.namespace.as_str(), *name),
        [namespace, name] => (*namespace, *name),
        _ => return Err("expected NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME".to_owned()),
    };
    dns_name(name)?;
    Ok(JobRef {
        kind: kind.to_owned(),
        namespace: Pattern::new(namespace),
        name: Pattern::new(name),
    })
}

pub(super) fn objects(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
    findings: &mut Findings,
) -> Option<ObjectSet> {
    let names = match fields.take(key) {
        Some(Node {
            tree: Tree::Seq(items),
            ..
        }) => items
            .iter()
            .filter_map(|item| fields.as_text(key, item, findings))
            .collect(),
        Some(node) => fields
            .as_text(key, node, findings)
            .into_iter()
            .collect::<Vec<_>>(),
        None => Vec::new(),
    };
    let mut objects = Vec::new();
    for (name, line) in names {
        match object(reader, &name) {
            Ok(object) => objects.push(object),
            Err(reason) => fields.complain(findings, line, format!("`{key}: {name}`: {reason}")),
        }
    }
    (!objects.is_empty()).then_some(ObjectSet(objects))
}

fn object(reader: &Reader<'_>, text: &str) -> Result<ObjectRef, String> {
    let mut parts = text.split('/');
    let kind_name = parts.next().unwrap_or_default();
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.kind).collect();
    let Some(kind) = kind_named(kind_name) else {
        return Err(format!(
            "kind `{kind_name}` is not recorded; {}",
            suggestion(kind_name, &kinds)
        ));
    };
    let rest: Vec<&str> = parts.collect();
    let (namespace, name) = match (kind.namespaced, rest.as_slice()) {
        (true, [name]) => (Some(Pattern::new(&reader.namespace)), *name),
        (true, [namespace, name]) => (Some(Pattern::new(namespace)), *name),
        (false, [name]) => (None, *name),
        (true, _) => return Err("expected KIND/NAME or KIND/NAMESPACE/NAME".to_owned()),
        (false, _) => {
            return Err(format!(
                "{kind_name} has no namespace: expected {kind_name}/NAME"
            ));
        }
    };
    dns_name(name)?;
    Ok(ObjectRef {
        kind: kind_name.to_owned(),
        namespace,
        name: Pattern::new(name),
    })
}

fn dns_name(name: &str) -> Result<(), String> {
    let good =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.*:".contains(&byte);
    if !name.is_empty() && name.bytes().all(good) {
        return Ok(());
    }
    Err(format!("`{name}` is not an object name"))
}
