use super::acceptable;

#[test]
fn one_acceptable_alternative_is_enough() {
    let cases = [
        ("MIT OR Apache-2.0", true),
        ("MIT/Apache-2.0", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("AGPL-3.0-only", false),
        ("GPL-3.0 OR MIT", true),
        ("MIT AND GPL-3.0", false),
    ];
    for (expression, want) in cases {
        assert_eq!(acceptable(expression), want, "{expression}");
    }
}
