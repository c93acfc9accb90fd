//! `lab.yaml` → [`LabRules`]: a hand-written reader over a tree that remembers lines, so that every complaint names one.
//! Checks that need the prose (messages, Markdown) are in `lab`.

mod fields;
mod lab;
mod moment;
mod rule;
mod tree;

pub(crate) use fields::Fields;
pub(crate) use lab::rules;
pub(crate) use tree::{Node, Tree};
