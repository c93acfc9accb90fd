//! Programs of this workspace that start one another must be of one version: what they tell each other on the command
//! line, in files and over sockets has no version of its own. The starter gives its version as the first option.

/// The version of every program of this workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The option that carries it.
pub const VERSION_OPTION: &str = "--platform-version";

/// Nothing when `starter`, the version that came with [`VERSION_OPTION`], is ours; otherwise what to tell a person.
pub fn check_version(program: &str, starter: Option<&str>) -> Result<(), String> {
    let starter = match starter {
        Some(VERSION) => return Ok(()),
        Some(other) => format!("version {other}"),
        None => "another version".to_owned(),
    };
    Err(format!(
        "this is {program} {VERSION}, and it was started by a platform of {starter}; they must be of the same \
         version: build or install both together (`cargo xtask up` builds them)"
    ))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{VERSION, check_version};

    #[test]
    fn another_version_is_said_in_words() {
        assert_eq!(check_version("relay", Some(VERSION)), Ok(()));
        let said = |starter| {
            check_version("relay", starter)
                .unwrap_err()
                .replace(VERSION, "OURS")
        };
        expect!["this is relay OURS, and it was started by a platform of version 99.1.0; they must be of the same version: build or install both together (`cargo xtask up` builds them)"].assert_eq(&said(Some("99.1.0")));
        expect!["this is relay OURS, and it was started by a platform of another version; they must be of the same version: build or install both together (`cargo xtask up` builds them)"].assert_eq(&said(None));
    }
}
