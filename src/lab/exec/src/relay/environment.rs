//! How a command's environment passes through bubblewrap and the relay without being theirs.
//!
//! The loader and the C library of every program obey variables such as `LD_PRELOAD`, and bubblewrap runs on the host.
//! So each variable travels under a name that nobody obeys, and only the command gets it under its own. It is never on
//! a command line, where other users of the machine could read it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

#[cfg(test)]
mod tests;

/// What the names begin with on their way.
const DISGUISE: &str = "SANDBOX_ENV_";

/// The name under which a variable travels; `None` for what cannot be a variable's name.
pub(crate) fn disguised(name: &str) -> Option<String> {
    (!name.is_empty() && !name.contains(['=', '\0'])).then(|| format!("{DISGUISE}{name}"))
}

/// The command's environment, from the relay's own. Whatever else the relay was given stays behind.
pub fn revealed(own: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    own.into_iter()
        .filter_map(|(name, value)| Some((real_name(&name)?, value)))
        .collect()
}

fn real_name(name: &OsStr) -> Option<OsString> {
    let name = name.as_bytes().strip_prefix(DISGUISE.as_bytes())?;
    (!name.is_empty()).then(|| OsString::from_vec(name.to_vec()))
}
