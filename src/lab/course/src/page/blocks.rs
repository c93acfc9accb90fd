//! The walk over a step's Markdown: headings, fences and `:::` directives become blocks; everything else is HTML.

use super::{
    Block, CalloutKind, Choice, FoldKind, Listing, SafeHtml, StepPage, Surroundings, html, links,
    typography,
};
use crate::{
    finding::{Findings, suggestion},
    rules::QuestionKind,
};
use comrak::{
    Arena, Options,
    nodes::{AstNode, ListType, NodeCodeBlock, NodeValue},
};

const DIRECTIVES: &[&str] = &[
    "question", "hint", "more", "trouble", "note", "warning", "expected", "why",
];
const FENCE_WORDS: &str =
    "expected `LANG`, `LANG run`, `LANG file=PATH`, `LANG output` or `LANG diagram CAPTION`";

struct Walk<'w> {
    file: &'w str,
    around: &'w Surroundings<'w>,
    options: Options<'static>,
    anchors: Vec<String>,
}

pub(super) fn read(
    file: &str,
    text: &str,
    around: &Surroundings<'_>,
    findings: &mut Findings,
) -> StepPage {
    let arena = Arena::new();
    let options = html::options();
    let root = comrak::parse_document(&arena, text, &options);
    links::resolve(file, root, around, findings);
    typography::check(file, root, around.language, findings);
    let mut children = root.children();
    let title = match children.next() {
        Some(first) if matches!(&first.data().value, NodeValue::Heading(heading) if heading.level == 1) => {
            html::plain(first)
        }
        _ => {
            findings.add(
                file,
                1,
                "expected the step's title as `# …` on the first line",
            );
            String::new()
        }
    };
    let mut walk = Walk {
        file,
        around,
        options,
        anchors: Vec::new(),
    };
    let blocks = walk.blocks(
        root.children().skip(usize::from(!title.is_empty())),
        findings,
    );
    StepPage { title, blocks }
}

fn line<'a>(node: &'a AstNode<'a>) -> u32 {
    u32::try_from(node.data().sourcepos.start.line).unwrap_or(0)
}

impl Walk<'_> {
    fn blocks<'a>(
        &mut self,
        nodes: impl Iterator<Item = &'a AstNode<'a>>,
        findings: &mut Findings,
    ) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut running = SafeHtml::default();
        for node in nodes {
            match self.block(node, findings) {
                Some(block) => {
                    flush(&mut running, &mut blocks);
                    blocks.push(block);
                }
                None => {
                    self.nested(node, findings);
                    running.push(&html::render(node, &self.options));
                }
            }
        }
        flush(&mut running, &mut blocks);
        blocks
    }

    /// The block that a node is by itself; none when it belongs to the running HTML.
    fn block<'a>(&mut self, node: &'a AstNode<'a>, findings: &mut Findings) -> Option<Block> {
        let data = node.data();
        match &data.value {
            NodeValue::Heading(heading) => {
                let level = heading.level;
                if level != 2 && level != 3 {
                    findings.add(
                        self.file,
                        line(node),
                        "a section is `##` or `###`; `#` is the title alone",
                    );
                }
                let text = html::plain(node);
                let anchor = html::slug(&text, &mut self.anchors);
                let html = html::render_inside(node, &self.options);
                Some(Block::Heading {
                    level: level.clamp(2, 3),
                    anchor,
                    text,
                    html,
                })
            }
            NodeValue::CodeBlock(code) => self.fence(code, line(node), findings),
            NodeValue::BlockDirective(directive) => self.directive(&directive.info, node, findings),
            _ => None,
        }
    }

    /// Fences and directives inside lists or quotations would lose their meaning in plain HTML.
    fn nested<'a>(&self, node: &'a AstNode<'a>, findings: &mut Findings) {
        for inner in node.descendants().skip(1) {
            let data = inner.data();
            match &data.value {
                NodeValue::CodeBlock(code) if code.info.split_whitespace().count() > 1 => {
                    findings.add(
                        self.file,
                        line(inner),
                        format!("`{}` inside a list or quotation: end it first", code.info),
                    );
                }
                NodeValue::BlockDirective(directive) => {
                    let what = format!(
                        "`:::{}` inside a list or quotation: end it first",
                        directive.info
                    );
                    findings.add(self.file, line(inner), what);
                }
                _ => {}
            }
        }
    }

    fn fence(&self, code: &NodeCodeBlock, line: u32, findings: &mut Findings) -> Option<Block> {
        let text = code.literal.trim_end_matches('\n').to_owned();
        let info = code.info.trim();
        let (lang, rest) = info.split_once(char::is_whitespace).unwrap_or((info, ""));
        let rest = rest.trim();
        let lang_name = lang.to_owned();
        let shell = matches!(lang, "bash" | "sh" | "console");
        let (word, caption) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match word {
            "" if shell => Some(Block::Command {
                lang: lang_name,
                text,
                run: false,
            }),
            "" => Some(Block::Listing(Listing {
                lang: lang_name,
                file: None,
                text,
            })),
            "run" if shell => {
                if text.trim().is_empty() {
                    findings.add(self.file, line, "a `run` block without a command");
                }
                Some(Block::Command {
                    lang: lang_name,
                    text,
                    run: true,
                })
            }
            "output" => Some(Block::Output { text }),
            "schema" | "diagram" if !caption.is_empty() => Some(Block::Diagram {
                caption: caption.trim().to_owned(),
                text,
            }),
            _ if word.starts_with("file=") => self.listing(
                lang,
                word.trim_start_matches("file="),
                &text,
                line,
                findings,
            ),
            _ => {
                findings.add(
                    self.file,
                    line,
                    format!("unknown fence `{info}`; {FENCE_WORDS}"),
                );
                None
            }
        }
    }

    fn listing(
        &self,
        lang: &str,
        path: &str,
        body: &str,
        line: u32,
        findings: &mut Findings,
    ) -> Option<Block> {
        let Some(text) = self.around.files.get(path) else {
            findings.add(
                self.file,
                line,
                format!("`file={path}`: there is no files/{path}"),
            );
            return None;
        };
        if !body.trim().is_empty() {
            findings.add(
                self.file,
                line,
                format!("`file={path}`: leave the body empty, the file's own text is shown"),
            );
        }
        let text = text.trim_end_matches('\n').to_owned();
        Some(Block::Listing(Listing {
            lang: lang.to_owned(),
            file: Some(path.to_owned()),
            text,
        }))
    }

    fn directive<'a>(
        &mut self,
        info: &str,
        node: &'a AstNode<'a>,
        findings: &mut Findings,
    ) -> Option<Block> {
        let (name, rest) = info
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((info.trim(), ""));
        let title = rest.trim().to_owned();
        let fold = |kind| (kind, title.clone());
        let folded = match name {
            "hint" => Some(fold(FoldKind::Hint)),
            "more" => Some(fold(FoldKind::More)),
            "trouble" => Some(fold(FoldKind::Trouble)),
            _ => None,
        };
        if let Some((kind, title)) = folded {
            if title.is_empty() && kind != FoldKind::Trouble {
                findings.add(
                    self.file,
                    line(node),
                    format!("`:::{name}` needs a title that makes one want to unfold it"),
                );
            }
            let blocks = self.blocks(node.children(), findings);
            return Some(Block::Fold {
                kind,
                title,
                blocks,
            });
        }
        let kind = match name {
            "question" => return self.question(&title, node, findings),
            "note" => CalloutKind::Note,
            "warning" => CalloutKind::Warning,
            "expected" => CalloutKind::Expected,
            "why" => CalloutKind::Why,
            other => {
                let hint = suggestion(other, DIRECTIVES);
                findings.add(
                    self.file,
                    line(node),
                    format!("unknown directive `:::{other}`; {hint}"),
                );
                return None;
            }
        };
        let blocks = self.blocks(node.children(), findings);
        Some(Block::Callout {
            kind,
            title,
            blocks,
        })
    }

    fn question<'a>(
        &mut self,
        id: &str,
        node: &'a AstNode<'a>,
        findings: &mut Findings,
    ) -> Option<Block> {
        let Some(question) = self
            .around
            .questions
            .iter()
            .find(|question| question.id.as_str() == id)
        else {
            findings.add(
                self.file,
                line(node),
                format!("question `{id}` is not in this step of lab.yaml"),
            );
            return None;
        };
        let expected: &[String] = match &question.kind {
            QuestionKind::Choice(ids) | QuestionKind::Choices(ids) => ids,
            QuestionKind::Number | QuestionKind::Text => &[],
        };
        let mut prompt = SafeHtml::default();
        let mut choices: Vec<Choice> = Vec::new();
        for child in node.children() {
            let bullets = matches!(&child.data().value, NodeValue::List(list) if list.list_type == ListType::Bullet);
            if bullets && !expected.is_empty() {
                choices.extend(
                    child
                        .children()
                        .filter_map(|item| self.choice(item, findings)),
                );
            } else {
                self.nested(child, findings);
                prompt.push(&html::render(child, &self.options));
            }
        }
        if prompt.is_empty() {
            findings.add(
                self.file,
                line(node),
                format!("question `{id}` has no text"),
            );
        }
        let found: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
        let mut sorted: Vec<&str> = found.clone();
        let mut wanted: Vec<&str> = expected.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        wanted.sort_unstable();
        if sorted != wanted {
            let what = format!(
                "question `{id}`: expected the choices {}, found {}",
                expected.join(", "),
                found.join(", ")
            );
            findings.add(self.file, line(node), what);
        }
        let kind = question.kind.clone();
        Some(Block::Question {
            id: question.id.clone(),
            kind,
            prediction: question.prediction,
            prompt,
            choices,
        })
    }

    /// A list item that begins with the choice's id in back-quotes.
    fn choice<'a>(&self, item: &'a AstNode<'a>, findings: &mut Findings) -> Option<Choice> {
        let paragraph = item.first_child();
        let first = paragraph.and_then(|paragraph| paragraph.first_child());
        let id = first.and_then(|node| match &node.data().value {
            NodeValue::Code(code) => Some(code.literal.clone()),
            _ => None,
        });
        let (Some(paragraph), Some(first), Some(id)) = (paragraph, first, id) else {
            findings.add(
                self.file,
                line(item),
                "a choice begins with its id in back-quotes: - `id` text",
            );
            return None;
        };
        first.detach();
        Some(Choice {
            id,
            label: html::render_inside(paragraph, &self.options),
        })
    }
}

fn flush(running: &mut SafeHtml, blocks: &mut Vec<Block>) {
    let html = std::mem::take(running);
    if !html.is_empty() {
        blocks.push(Block::Html(html));
    }
}
