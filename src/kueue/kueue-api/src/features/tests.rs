//! Defaults against the corpus' table, and what a start refuses.

use std::collections::BTreeMap;

use super::{Built, Features, GATES, parse_flag};

fn gates(pairs: &[(&str, bool)]) -> BTreeMap<String, bool> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect()
}

#[test]
fn the_table_is_sorted_and_depends_on_itself_only() {
    let names: Vec<_> = GATES.iter().map(|gate| gate.name).collect();
    assert!(names.is_sorted());
    assert_eq!(names.len(), 80);
    for gate in GATES {
        assert!(
            gate.requires.iter().all(|name| names.contains(name)),
            "{}",
            gate.name
        );
    }
}

#[test]
fn a_start_refuses_what_it_cannot_honour() {
    let on_but_not_built = GATES
        .iter()
        .find(|gate| gate.built == Built::No)
        .expect("something is left to build")
        .name;
    let cases = [
        ("nothing asked", gates(&[]), ""),
        (
            "unknown",
            gates(&[("Nonsense", true)]),
            "featureGates[Nonsense]: Invalid value: true: unrecognized feature gate",
        ),
        (
            "off although not built",
            gates(&[(on_but_not_built, false)]),
            "",
        ),
        (
            "locked",
            gates(&[("TLSOptions", false)]),
            "featureGates[TLSOptions]: Invalid value: false: cannot be switched off in this controller",
        ),
        (
            "switched",
            gates(&[("PrioritySortingWithinCohort", false)]),
            "",
        ),
    ];
    for (name, set, want) in cases {
        let text = Features::start(&set)
            .err()
            .map(|errors| crate::field::aggregate(&errors))
            .unwrap_or_default();
        assert_eq!(text, want, "{name}");
    }
    let errors = Features::start(&gates(&[(on_but_not_built, true)])).unwrap_err();
    assert!(
        errors[0]
            .to_string()
            .contains("does not have this feature yet"),
        "{errors:?}"
    );
}

#[test]
fn flags_are_read() {
    assert_eq!(
        parse_flag("A=true, B=false"),
        Ok(gates(&[("A", true), ("B", false)]))
    );
    assert_eq!(parse_flag(""), Ok(gates(&[])));
    assert_eq!(
        parse_flag("A=maybe"),
        Err("feature gate \"A=maybe\" should be written NAME=true or NAME=false".to_owned())
    );
}
