//! A world as a file: a Kubernetes `List` that kubectl and other schedulers read.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;

use super::Trial;

/// Writes `NAME.json`, where the name is the row's with everything but letters and digits as dashes.
pub(super) fn write(folder: &Path, trial: &Trial) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": trial.world.objects()? });
    let file = fs::File::create(folder.join(file_name(&trial.row.name)))?;
    serde_json::to_writer(io::BufWriter::new(file), &list)?;
    Ok(())
}

fn file_name(row: &str) -> String {
    let words = row.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!("{}.json", words.join("-"))
}
