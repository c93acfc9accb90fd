use std::fs;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use super::hash_tree;

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn hash(&self) -> String {
        let mut hash = Sha256::new();
        hash_tree(&self.0, &mut hash).unwrap();
        hex::encode(hash.finalize())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_tree_is_known_by_names_and_contents_but_not_by_what_python_leaves() {
    let folder = Folder::new("hash");
    fs::write(folder.0.join("a.py"), "1").unwrap();
    let first = folder.hash();
    fs::create_dir(folder.0.join("__pycache__")).unwrap();
    fs::write(folder.0.join("__pycache__/a.pyc"), "x").unwrap();
    assert_eq!(folder.hash(), first);
    fs::rename(folder.0.join("a.py"), folder.0.join("b.py")).unwrap();
    let renamed = folder.hash();
    assert_ne!(renamed, first);
    fs::write(folder.0.join("b.py"), "2").unwrap();
    assert_ne!(folder.hash(), renamed);
}
