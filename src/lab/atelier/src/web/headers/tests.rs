use super::{Nonce, content_security_policy};

#[test]
fn nothing_is_allowed_that_is_not_ours() {
    let policy = content_security_policy(&Nonce("abc".to_owned()));
    let directives: Vec<(&str, &str)> = policy
        .split("; ")
        .map(|one| one.split_once(' ').unwrap())
        .collect();
    assert_eq!(directives[0], ("default-src", "'none'"));
    for (name, sources) in directives {
        let fine = sources
            .split(' ')
            .all(|source| ["'none'", "'self'", "'nonce-abc'", "data:"].contains(&source));
        assert!(fine, "{name} {sources}");
        assert!(
            !sources.contains("data:") || name == "img-src",
            "{name} {sources}"
        );
        assert!(
            !sources.contains("nonce") || name == "style-src",
            "{name} {sources}"
        );
    }
}
