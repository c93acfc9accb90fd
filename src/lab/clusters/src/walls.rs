//! The walls of an environment: who may do what in it, and where pods of known images go.
//!
//! Everything is a manifest beside this file, applied by the supervisor each time an environment starts. Nothing here
//! watches or decides at run time; the API server does, with roles and admission policies.

mod apply;
mod manifests;
#[cfg(test)]
mod tests;

pub use apply::apply;
pub(crate) use apply::resource;

/// Group of the trainee's client certificate.
pub const TRAINEES: &str = "atelier:trainees";

/// Why the walls do not stand.
#[derive(Debug, thiserror::Error)]
pub enum WallsError {
    #[error("read the built-in manifest {file}: {reason}")]
    Manifest { file: &'static str, reason: String },
    #[error("apply {kind} {name}: {source}")]
    Apply {
        kind: String,
        name: String,
        source: kube::Error,
    },
}
