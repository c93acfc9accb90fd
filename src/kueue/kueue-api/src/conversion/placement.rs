//! Where pods were placed: the older version has a list of domains, each with all its values; the newer one writes the domains of a
//! slice column by column, and what is the same for all of them once.

use serde_json::{Value, json};

use super::{ConversionError, Fields};

fn fault(why: impl Into<String>) -> ConversionError {
    ConversionError::Field {
        field: "topologyAssignment",
        why: why.into(),
    }
}

/// From slices to domains.
pub(super) fn spread(placement: &mut Fields) -> Result<(), ConversionError> {
    let Some(Value::Array(slices)) = placement.shift_remove("slices") else {
        return Ok(());
    };
    let mut domains = Vec::new();
    for slice in &slices {
        let count = slice["domainCount"]
            .as_u64()
            .and_then(|count| usize::try_from(count).ok())
            .ok_or_else(|| fault("a slice says how many domains it has"))?;
        let columns: Vec<&Value> = slice["valuesPerLevel"]
            .as_array()
            .into_iter()
            .flatten()
            .collect();
        for domain in 0..count {
            let values = columns.iter().map(|column| value(column, domain));
            let values: Vec<String> = values
                .collect::<Option<_>>()
                .ok_or_else(|| fault("a level has fewer values than domains"))?;
            let pods = number(&slice["podCounts"], domain)
                .ok_or_else(|| fault("there are fewer numbers of pods than domains"))?;
            domains.push(json!({"values": values, "count": pods}));
        }
    }
    placement.insert("domains".to_owned(), Value::Array(domains));
    Ok(())
}

fn value(column: &Value, domain: usize) -> Option<String> {
    if let Some(universal) = column["universal"].as_str() {
        return Some(universal.to_owned());
    }
    let individual = &column["individual"];
    let part = |name: &str| individual[name].as_str().unwrap_or_default();
    let root = individual["roots"].get(domain)?.as_str()?;
    Some(format!("{}{root}{}", part("prefix"), part("suffix")))
}

fn number(counts: &Value, domain: usize) -> Option<&Value> {
    counts
        .get("universal")
        .or_else(|| counts["individual"].get(domain))
}

/// From domains to one slice.
pub(super) fn squeeze(placement: &mut Fields) -> Result<(), ConversionError> {
    let Some(Value::Array(domains)) = placement.shift_remove("domains") else {
        return Ok(());
    };
    let levels = placement
        .get("levels")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for domain in &domains {
        let values = domain["values"].as_array().into_iter().flatten();
        let row: Vec<&str> = values.filter_map(Value::as_str).collect();
        if row.len() != levels {
            return Err(fault("a domain has a value for each level"));
        }
        rows.push(row);
    }
    let column = |level: usize| column(&rows.iter().map(|row| row[level]).collect::<Vec<_>>());
    let counts: Vec<&Value> = domains.iter().map(|domain| &domain["count"]).collect();
    let slice = json!({
        "domainCount": domains.len(),
        "valuesPerLevel": (0..levels).map(column).collect::<Vec<_>>(),
        "podCounts": match same(&counts) {
            Some(count) => json!({"universal": count}),
            None => json!({"individual": counts}),
        },
    });
    let slices = if domains.is_empty() {
        vec![]
    } else {
        vec![slice]
    };
    placement.insert("slices".to_owned(), Value::Array(slices));
    Ok(())
}

/// What all of them are.
fn same<T: PartialEq>(all: &[T]) -> Option<&T> {
    let (first, rest) = all.split_first()?;
    rest.iter().all(|other| other == first).then_some(first)
}

fn column(values: &[&str]) -> Value {
    if let Some(universal) = same(values) {
        return json!({ "universal": universal });
    }
    let prefix = common(values, |a, b| {
        let same = a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b);
        let end = same.map_or(a.len().min(b.len()), |((at, _), _)| at);
        a.get(..end).unwrap_or_default()
    });
    let rests: Vec<&str> = values
        .iter()
        .map(|value| value.get(prefix.len()..).unwrap_or_default())
        .collect();
    let suffix = common(&rests, |a, b| {
        let equal = a
            .chars()
            .rev()
            .zip(b.chars().rev())
            .take_while(|(a, b)| a == b);
        let length: usize = equal.map(|(c, _)| c.len_utf8()).sum();
        a.get(a.len() - length..).unwrap_or_default()
    });
    let roots: Vec<&str> = rests
        .iter()
        .map(|rest| rest.get(..rest.len() - suffix.len()).unwrap_or_default())
        .collect();
    let mut individual = json!({ "roots": roots });
    for (name, text) in [("prefix", prefix), ("suffix", suffix)] {
        if !text.is_empty() {
            individual[name] = json!(text);
        }
    }
    json!({ "individual": individual })
}

/// What all texts have in common, by what two have.
fn common<'a>(all: &[&'a str], two: impl Fn(&'a str, &'a str) -> &'a str) -> &'a str {
    let mut texts = all.iter().copied();
    let first = texts.next().unwrap_or_default();
    texts.fold(first, two)
}
