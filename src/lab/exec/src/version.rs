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
mod tests;
