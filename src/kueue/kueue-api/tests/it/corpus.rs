//! Access to the conformance corpus, which lies beside the repository. Where it is absent a test says so and passes, except in CI.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One file of the corpus.
pub(crate) struct Table(Value);

/// Reads a table, or says that the test is skipped.
pub(crate) fn table(file: &str) -> Option<Table> {
    let path = folder().join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        assert!(
            std::env::var_os("CI").is_none(),
            "{} is missing",
            path.display()
        );
        eprintln!("skipped: {} is not there", path.display());
        return None;
    };
    Some(Table(serde_json::from_str(&text).unwrap()))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/conformance")
}

impl Table {
    /// Name, input and wanted outcome of each case.
    pub(crate) fn cases(&self) -> impl Iterator<Item = (&str, &Value, &Value)> {
        self.0["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| (case["name"].as_str().unwrap(), &case["in"], &case["want"]))
    }
}
