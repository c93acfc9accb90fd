//! Links of a lab text: to the web (https), to a section, to another step, to a file of the working folder. Anything else is refused.

use super::Surroundings;
use crate::finding::Findings;
use comrak::nodes::{AstNode, NodeValue};

/// Checks every link below `root` and rewrites ours into what the page understands.
pub(crate) fn resolve<'a>(
    file: &str,
    root: &'a AstNode<'a>,
    around: &Surroundings<'_>,
    findings: &mut Findings,
) {
    for node in root.descendants() {
        let mut data = node.data_mut();
        let line = u32::try_from(data.sourcepos.start.line).unwrap_or(0);
        match &mut data.value {
            NodeValue::Link(link) => match target(&link.url, around) {
                Ok(url) => link.url = url,
                Err(reason) => findings.add(file, line, reason),
            },
            NodeValue::Image(_) => findings.add(file, line, "images are not part of a step's text"),
            NodeValue::HtmlBlock(_) | NodeValue::HtmlInline(_) => {
                findings.add(
                    file,
                    line,
                    "raw HTML is refused; write `<` as `\\<` or use a code span",
                );
            }
            _ => {}
        }
    }
}

fn target(url: &str, around: &Surroundings<'_>) -> Result<String, String> {
    if url.starts_with("https://") || url.starts_with('#') {
        return Ok(url.to_owned());
    }
    if let Some(step) = url.strip_prefix("step:") {
        let known = around.steps.iter().any(|id| id.as_str() == step);
        return known
            .then(|| step.to_owned())
            .ok_or_else(|| format!("link to unknown step `{step}`"));
    }
    if let Some(path) = url.strip_prefix("file:") {
        let known = around.files.contains_key(path);
        return known
            .then(|| format!("#file:{path}"))
            .ok_or_else(|| format!("link to `{path}`, which is not in files/"));
    }
    Err(format!(
        "link `{url}`: expected https://…, #section, step:ID or file:PATH"
    ))
}
