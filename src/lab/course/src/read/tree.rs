//! YAML as a tree with line numbers.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use std::fmt;

/// A YAML value and the line where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: u32,
    pub(crate) tree: Tree,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Seq(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    /// Parses one document; the error is a line and a reason.
    pub(crate) fn parse(text: &str) -> Result<Self, (u32, String)> {
        serde_saphyr::from_str::<Self>(text).map_err(|error| {
            let line = error
                .location()
                .map_or(0, |place| u32::try_from(place.line()).unwrap_or(0));
            let whole = error.to_string();
            let first = whole
                .lines()
                .find(|line| !line.trim().is_empty())
                .unwrap_or("not YAML");
            // The place is told by us, and the library's options are not the author's affair.
            let reason = match first
                .trim_start_matches("error: ")
                .strip_prefix("line ")
                .and_then(|rest| rest.split_once(": "))
            {
                Some((_, reason)) => reason,
                None => first,
            };
            let reason = reason.split(", set ").next().unwrap_or(reason);
            (line, format!("not valid YAML: {reason}"))
        })
    }

    /// What it is, for messages.
    pub(crate) fn sort(&self) -> &'static str {
        match self.tree {
            Tree::Null => "nothing",
            Tree::Bool(_) => "true or false",
            Tree::Int(_) | Tree::Float(_) => "a number",
            Tree::Text(_) => "a text",
            Tree::Seq(_) => "a list",
            Tree::Map(_) => "a map",
        }
    }

    /// A scalar as JSON; lists of scalars too.
    pub(crate) fn json(&self) -> serde_json::Value {
        match &self.tree {
            Tree::Null => serde_json::Value::Null,
            Tree::Bool(value) => (*value).into(),
            Tree::Int(value) => (*value).into(),
            Tree::Float(value) => (*value).into(),
            Tree::Text(value) => value.as_str().into(),
            Tree::Seq(items) => items.iter().map(Self::json).collect(),
            Tree::Map(entries) => serde_json::Value::Object(
                entries
                    .iter()
                    .map(|(key, node)| (key.clone(), node.json()))
                    .collect(),
            ),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Tree>::deserialize(deserializer)?;
        let line = u32::try_from(spanned.referenced.line()).unwrap_or(0);
        Ok(Self {
            line,
            tree: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Int(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Tree, E> {
        i64::try_from(value)
            .map(Tree::Int)
            .map_err(|_| E::custom("number too large"))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Tree::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Node>()? {
            entries.push((key, value));
        }
        Ok(Tree::Map(entries))
    }
}
