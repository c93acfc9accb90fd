//! Answers are checked for their kind before they become entries.

use super::fitting;
use course::QuestionKind;
use serde_json::{Value, json};

#[test]
fn values_take_the_questions_form_or_are_refused() {
    let choice = || QuestionKind::Choice(vec!["oui".to_owned(), "non".to_owned()]);
    let choices = || QuestionKind::Choices(vec!["oui".to_owned(), "non".to_owned()]);
    let long = "x".repeat(2000);
    let cases: Vec<(QuestionKind, Value, Option<Value>)> = vec![
        (QuestionKind::Number, json!(8), Some(json!(8))),
        (QuestionKind::Number, json!(" 8 "), Some(json!(8))),
        (QuestionKind::Number, json!("2,5"), Some(json!(2.5))),
        (QuestionKind::Number, json!("huit"), None),
        (QuestionKind::Number, json!("NaN"), None),
        (QuestionKind::Number, json!(""), None),
        (
            QuestionKind::Text,
            json!(" Waiting "),
            Some(json!("Waiting")),
        ),
        (QuestionKind::Text, json!("  "), None),
        (QuestionKind::Text, json!({"a": 1}), None),
        (
            QuestionKind::Text,
            json!(long),
            Some(json!("x".repeat(500))),
        ),
        (choice(), json!("oui"), Some(json!("oui"))),
        (choice(), json!("peut-être"), None),
        (
            choices(),
            json!(["non", "oui"]),
            Some(json!(["non", "oui"])),
        ),
        (choices(), json!("oui"), Some(json!(["oui"]))),
        (choices(), json!(["non", "sans"]), None),
    ];
    for (kind, value, expected) in cases {
        assert_eq!(
            fitting(&kind, value.clone()).ok(),
            expected,
            "{kind:?} {value}"
        );
    }
}
