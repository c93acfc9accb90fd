//! Both languages say everything that pages ask for, and nothing else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use course::Language;

use super::Words;

fn keys(language: Language) -> BTreeSet<&'static str> {
    Words::of(language).keys().collect()
}

#[test]
fn both_languages_have_the_same_keys() {
    assert_eq!(keys(Language::Fr), keys(Language::En));
    assert_eq!(
        keys(Language::Fr).len(),
        Words::of(Language::Fr).keys().count(),
        "a key is there twice"
    );
}

#[test]
fn every_message_can_be_read() {
    for words in Language::ALL.map(Words::of) {
        for key in words.keys() {
            assert!(words.has(key), "{key} in {:?}", words.language);
        }
    }
}

#[test]
fn french_has_its_spaces() {
    let words = Words::of(Language::Fr);
    for key in words.keys() {
        let text = words.with(
            key,
            &[("n", 2_u32.into()), ("of", 3_u32.into()), ("x", "x".into())],
        );
        for mark in [" :", " ;", " ?", " !", "« ", " »"] {
            // Goals are a list whose items are separated by blank, semicolon, blank.
            assert!(
                key.ends_with("-goals") || !text.contains(mark),
                "{key}: plain space at `{mark}` in {text}"
            );
        }
    }
}

#[test]
fn numbers_agree() {
    let (fr, en) = (Words::of(Language::Fr), Words::of(Language::En));
    assert_eq!(fr.n("points", 1_u32), "1 point");
    assert_eq!(fr.n("points", 0_u32), "0 point");
    assert_eq!(en.n("points", 0_u32), "0 points");
}

/// Text between quotes right after `opening`, everywhere in a file.
fn quoted<'a>(text: &'a str, opening: &str) -> Vec<&'a str> {
    text.split(opening)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

fn files(dir: &Path, suffix: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("node_modules") {
            files(&path, suffix, found);
        } else if path.to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
}

#[test]
fn every_key_that_templates_and_scripts_name_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let known = keys(Language::Fr);
    let (mut templates, mut scripts) = (Vec::new(), Vec::new());
    files(&root.join("templates"), ".html", &mut templates);
    files(&root.join("static/src"), ".ts", &mut scripts);
    assert!(templates.len() > 10 && scripts.len() > 10);
    for path in templates {
        let text = std::fs::read_to_string(&path).unwrap();
        for opening in [".t(\"", ".n(\"", ".x(\"", ".with(\""] {
            for key in quoted(&text, opening) {
                assert!(known.contains(key), "{key} in {}", path.display());
            }
        }
    }
    for path in scripts {
        for key in quoted(&std::fs::read_to_string(&path).unwrap(), "word(\"") {
            assert!(
                known.contains(format!("script-{key}").as_str()),
                "{key} in {}",
                path.display()
            );
        }
    }
}
