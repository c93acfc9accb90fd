use super::{require, version};

#[test]
fn versions_compare_by_number() {
    assert_eq!(version("20.20.2"), Some((20, 20)));
    assert_eq!(version("1.100.0"), Some((1, 100)));
    assert!(version("1.100.0") > version("1.95.0"), "not by text");
    assert_eq!(version("nightly"), None);
}

#[test]
fn a_missing_or_old_language_is_named_with_its_source() {
    let cases = [
        (
            "absent",
            None,
            "Node.js is missing: version 20.0 or newer is needed, see https://nodejs.org",
        ),
        (
            "old",
            Some("v18.1.0"),
            "Node.js 18.1.0 is too old: version 20.0 or newer is needed, see https://nodejs.org",
        ),
        (
            "odd",
            Some("what"),
            "Node.js what is too old: version 20.0 or newer is needed, see https://nodejs.org",
        ),
    ];
    for (name, printed, want) in cases {
        let refusal =
            require("Node.js", printed, 0, (20, 0), "https://nodejs.org").expect_err(name);
        assert_eq!(refusal.to_string(), want, "{name}");
    }
    require("Node.js", Some("v20.0.0"), 0, (20, 0), "").expect("the least version is enough");
}
