//! One file a page family: the values a page shows, and its handlers. Sentences come from the words, looks from templates.

pub mod blocks;
pub mod board;
pub mod criteria;
pub mod environment;
pub mod home;
pub mod lab;
pub mod report;

use course::Lab;

use super::words::Words;

/// Points earned and all points of some criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Points {
    pub earned: u32,
    pub total: u32,
}

/// A lab's title in the visitor's language.
fn title(lab: &Lab, words: &Words) -> String {
    lab.texts(words.language).title()
}
