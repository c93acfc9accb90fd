//! The only way to HTML: comrak's output through a strict allow-list. No style, no script, no event attribute, no image.

use ammonia::{Builder, UrlRelative};
use comrak::{
    Options,
    nodes::{AstNode, NodeValue},
};
use std::{collections::HashSet, fmt, sync::OnceLock};

/// HTML that went through the allow-list; templates may print it as it is.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SafeHtml(String);

impl SafeHtml {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    pub(crate) fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }
}

impl fmt::Debug for SafeHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Display for SafeHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const TAGS: &[&str] = &[
    "p",
    "ul",
    "ol",
    "li",
    "strong",
    "em",
    "del",
    "code",
    "pre",
    "blockquote",
    "a",
    "br",
    "hr",
    "sup",
    "section",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "h4",
];

fn builder() -> &'static Builder<'static> {
    static BUILDER: OnceLock<Builder<'static>> = OnceLock::new();
    BUILDER.get_or_init(|| {
        let mut builder = Builder::empty();
        builder
            .tags(TAGS.iter().copied().collect())
            .tag_attributes(
                [
                    (
                        "a",
                        HashSet::from(["href", "data-step", "data-file", "class", "id"]),
                    ),
                    ("code", HashSet::from(["class"])),
                    ("ol", HashSet::from(["start"])),
                    ("li", HashSet::from(["id"])),
                    ("sup", HashSet::from(["class"])),
                    ("section", HashSet::from(["class"])),
                ]
                .into_iter()
                .collect(),
            )
            .url_schemes(HashSet::from(["https"]))
            .url_relative(UrlRelative::PassThrough)
            .link_rel(Some("noopener noreferrer"));
        builder
    })
}

pub(crate) fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.footnotes = true;
    options.extension.block_directive = true;
    options
}

/// Renders one node of the document.
pub(crate) fn render<'a>(node: &'a AstNode<'a>, options: &Options<'_>) -> SafeHtml {
    let mut raw = String::new();
    if comrak::format_html(node, options, &mut raw).is_err() {
        raw.clear();
    }
    SafeHtml(builder().clean(&raw).to_string())
}

/// Renders what is inside a node, without the node's own tag.
pub(crate) fn render_inside<'a>(node: &'a AstNode<'a>, options: &Options<'_>) -> SafeHtml {
    let mut all = SafeHtml::default();
    for child in node.children() {
        all.push(&render(child, options));
    }
    SafeHtml(all.0.trim().to_owned())
}

/// The words of a node without any markup.
pub(crate) fn plain<'a>(node: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for inner in node.descendants() {
        match &inner.data().value {
            NodeValue::Text(words) => text.push_str(words),
            NodeValue::Code(code) => text.push_str(&code.literal),
            NodeValue::SoftBreak | NodeValue::LineBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

/// An anchor made of a heading's words: letters and digits, everything else becomes one hyphen.
pub(crate) fn slug(text: &str, taken: &mut Vec<String>) -> String {
    let mut slug = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let base = slug.trim_end_matches('-').to_owned();
    let mut unique = base.clone();
    let mut number = 2;
    while unique.is_empty() || taken.contains(&unique) {
        unique = format!("{base}-{number}");
        number += 1;
    }
    taken.push(unique.clone());
    unique
}
