use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use super::{collect, write};

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("tree/inner")).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn the_list_says_what_follows_it_in_its_order() {
    let folder = Folder::new("bundle");
    let tree = folder.0.join("tree");
    fs::write(tree.join("inner/etcd"), "the program").unwrap();
    fs::write(tree.join("lock"), "of somebody who builds").unwrap();
    std::os::unix::fs::symlink("inner/etcd", tree.join("etcd")).unwrap();
    let mut files = Vec::new();
    collect(&tree, "cache/tools", &mut files).unwrap();
    files.sort();
    let out = folder.0.join("out.tar");
    write(&files, &out).unwrap();

    let mut archive = tar::Archive::new(fs::File::open(&out).unwrap());
    let mut contents = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        contents.push((path, text));
    }
    let list: serde_json::Value = serde_json::from_str(&contents[0].1).unwrap();
    assert_eq!(contents[0].0, "bundle.json");
    let listed: Vec<&str> = list["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["path"].as_str().unwrap())
        .collect();
    let followed: Vec<&str> = contents[1..]
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(listed, followed);
    assert_eq!(listed, ["cache/tools/etcd", "cache/tools/inner/etcd"]);
    assert_eq!(list["files"][0]["link"], "inner/etcd");
    assert_eq!(list["files"][1]["bytes"], 11);
    assert_eq!(contents[2].1, "the program");
}

#[test]
fn a_link_out_of_the_cache_is_refused() {
    let folder = Folder::new("bundle-link");
    let tree = folder.0.join("tree");
    std::os::unix::fs::symlink("/usr/bin/true", tree.join("kubectl")).unwrap();
    let mut files = Vec::new();
    collect(&tree, "cache/tools", &mut files).unwrap();
    let error = write(&files, &folder.0.join("out.tar"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("/usr/bin/true") && error.contains("nowhere"),
        "{error}"
    );
}
