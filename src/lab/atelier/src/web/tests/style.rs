//! The colours of the style sheet: as ux.md gives them, and readable in both themes.

use std::collections::BTreeMap;
use std::path::Path;

/// Least contrast of text with its ground, and of a state's sign or a control's outline.
const TEXT: f64 = 4.5;
const SHAPE: f64 = 3.0;

fn tokens() -> [BTreeMap<String, String>; 3] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../static/styles/tokens.css");
    let text = std::fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> = text.split("{\n").skip(1).collect();
    let [light, dark, _media, system] = blocks.as_slice() else {
        panic!("four blocks, found {}", blocks.len())
    };
    [light, dark, system].map(|block| {
        let block = block.split('}').next().unwrap();
        block
            .lines()
            .filter_map(|line| line.trim().strip_suffix(';')?.split_once(": "))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect()
    })
}

fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn chosen_and_preferred_dark_are_the_same() {
    let [_, dark, system] = tokens();
    assert_eq!(dark, system);
}

#[test]
fn tokens_are_those_of_the_design() {
    let [light, dark, _] = tokens();
    let wanted = [
        ("ink", "#1b1f24", "#e6e8eb"),
        ("paper", "#ffffff", "#14171a"),
        ("accent", "#0b5fa5", "#7cb8f2"),
        ("wait", "#8a5300", "#f0b35a"),
        ("admit", "#0b5fa5", "#7cb8f2"),
        ("run", "#1a6b2f", "#6fcf8a"),
        ("borrow", "#6b3fa0", "#c3a2f0"),
        ("evict", "#a32020", "#f28b82"),
        ("done", "#4a5560", "#aab4be"),
    ];
    for (name, in_light, in_dark) in wanted {
        let name = format!("--{name}");
        assert_eq!(
            (light[&name].as_str(), dark[&name].as_str()),
            (in_light, in_dark),
            "{name}"
        );
    }
}

#[test]
fn text_and_states_can_be_read_on_every_ground() {
    for theme in tokens().iter().take(2) {
        let colour = |name: &str| theme[&format!("--{name}")].as_str();
        for ground in ["paper", "surface", "raised"] {
            for text in [
                "ink", "quiet", "accent", "wait", "admit", "run", "borrow", "evict", "done",
            ] {
                let ratio = contrast(colour(text), colour(ground));
                assert!(ratio >= TEXT, "{text} on {ground}: {ratio:.2}");
            }
            let ratio = contrast(colour("line-strong"), colour(ground));
            assert!(ratio >= SHAPE, "line-strong on {ground}: {ratio:.2}");
        }
        let pairs = [
            ("accent-ink", "accent"),
            ("accent", "accent-soft"),
            ("ink", "accent-soft"),
            ("wait", "wait-soft"),
            ("evict", "evict-soft"),
            ("ink", "evict-soft"),
            ("ink", "run-soft"),
            ("ink", "wait-soft"),
        ];
        for (text, ground) in pairs {
            let ratio = contrast(colour(text), colour(ground));
            assert!(ratio >= TEXT, "{text} on {ground}: {ratio:.2}");
        }
        for look in 0..6 {
            let ratio = contrast(colour(&format!("look-{look}")), colour("paper"));
            assert!(ratio >= SHAPE, "look-{look}: {ratio:.2}");
        }
    }
}
