//! Where the programs of a trial are: the cluster's tools, and our own manager.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clusters::tools::{Options, Tools, obtain_all};
use tokio_util::sync::CancellationToken;

/// The folder that programs are kept in.
///
/// # Errors
/// Without a home folder.
pub fn cache() -> anyhow::Result<PathBuf> {
    let home = env::var_os("HOME").context("HOME is not set")?;
    Ok(Path::new(&home).join(".cache/atelier-kueue/tools"))
}

/// etcd, the API server and its companions, obtained if they are missing.
///
/// # Errors
/// What each source lacked.
pub async fn tools() -> anyhow::Result<Tools> {
    tools_in(cache()?).await
}

/// The same, kept in another folder.
///
/// # Errors
/// What each source lacked.
pub async fn tools_in(cache: PathBuf) -> anyhow::Result<Tools> {
    let mut options = Options::new(cache);
    options.dir = env::var_os("ATELIER_TOOLS_DIR").map(PathBuf::from);
    let tools = obtain_all(&options, &CancellationToken::new(), &|_| {}).await?;
    Ok(tools)
}

/// Our manager: the one that was named, or the one beside this program.
///
/// # Errors
/// When there is none.
pub fn manager(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    match named {
        Some(path) => path
            .canonicalize()
            .with_context(|| path.display().to_string()),
        None => exec::sibling("kueue-manager").context("no `kueue-manager` beside this program: `cargo build -p kueue-manager`, or give --manager"),
    }
}

/// The root of this repository.
#[must_use]
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_path_buf()
}
