//! Whether kind clusters may be made here. `cargo xtask test` says so in `ATELIER_KIND`, after it has started an engine and built the
//! node image: `1`, or the named reason why there can be no engine on this machine.

use std::{
    env,
    io::{self, Write as _},
};

const VARIABLE: &str = "ATELIER_KIND";

/// True, or false and a line that says why these tests are skipped.
///
/// # Panics
/// Where `CI=true` and nobody has decided: a green CI means that it ran, or that it said why it could not.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no main that could read it"
)]
pub fn kind_clusters() -> bool {
    match env::var(VARIABLE).as_deref() {
        Ok("1") => true,
        Ok(reason) if !reason.is_empty() => {
            writeln!(io::stdout(), "skipped: kind clusters: {reason}").ok();
            false
        }
        _ => {
            crate::lacking(
                "ATELIER_KIND=1 says that a container engine and the node image are there",
            );
            false
        }
    }
}
