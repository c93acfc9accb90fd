use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use super::{Contents, Tool, write};

/// A folder that is gone after the test, with everything that is packed.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let folder = Self(path);
        for name in [
            "atelier",
            "environment-supervisor",
            "sandbox-relay",
            "kueue-manager",
        ] {
            folder.put(&format!("bin/{name}"), name);
        }
        for name in [
            "labs/profiles/a.yaml",
            "static/dist/manifest.json",
            "manifests/kueue/Chart.yaml",
            "tools/control-plane/kube",
            "images/outils-0123456789abcdef.tar",
            "images/outils.json",
        ] {
            folder.put(name, name);
        }
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.0.join("bin/atelier"), mode).unwrap();
        for name in ["etcd", "kube-apiserver"] {
            symlink("control-plane/kube", folder.0.join("tools").join(name)).unwrap();
        }
        symlink(
            "outils-0123456789abcdef.tar",
            folder.0.join("images/outils.tar"),
        )
        .unwrap();
        folder
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn contents(&self) -> Contents {
        let tool = |name: &str, version: &str| Tool {
            name: name.to_owned(),
            version: version.to_owned(),
            path: self.0.join("tools").join(name),
        };
        Contents {
            programs: self.0.join("bin"),
            tree: self.0.clone(),
            tools: vec![tool("etcd", "3.7.3"), tool("kube-apiserver", "1.37.2")],
            images: self.0.join("images"),
            names: vec!["outils"],
        }
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
    let files = folder.contents().gather().unwrap();
    let out = folder.0.join("out.tar");
    let mut lines = Vec::new();
    write(&files, &out, &mut |line| lines.push(line.to_owned())).unwrap();

    let mut archive = tar::Archive::new(fs::File::open(&out).unwrap());
    let mut contents = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let mode = entry.header().mode().unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        contents.push((path, text, mode));
    }
    assert_eq!(contents[0].0, "bundle.json");
    let list: serde_json::Value = serde_json::from_str(&contents[0].1).unwrap();
    let listed = list["files"].as_array().unwrap();
    let paths: Vec<&str> = listed.iter().map(|f| f["path"].as_str().unwrap()).collect();
    let followed: Vec<&str> = contents[1..]
        .iter()
        .map(|(path, _, _)| path.as_str())
        .collect();
    assert_eq!(paths, followed);
    assert_eq!(
        paths,
        [
            "app/bin/atelier",
            "app/bin/environment-supervisor",
            "app/bin/sandbox-relay",
            "app/bin/kueue-manager",
            "app/labs/profiles/a.yaml",
            "app/manifests/kueue/Chart.yaml",
            "app/static/dist/manifest.json",
            "cache/tools/etcd-3.7.3/etcd",
            "cache/tools/kube-apiserver-1.37.2/kube-apiserver",
            "cache/images/outils-0123456789abcdef.tar",
            "cache/images/outils.json",
            "cache/images/outils.tar",
        ]
    );
    assert_eq!(contents[1].2, 0o755, "so that `tar -xf` gives a program");
    assert_eq!(contents[1].1, "atelier");
    assert_eq!(contents[8].1, "tools/control-plane/kube");
    assert_eq!(listed[8]["link"], "../etcd-3.7.3/etcd", "packed once");
    assert_eq!(listed[11]["link"], "outils-0123456789abcdef.tar");
    assert_eq!(listed[7]["bytes"], 24);
    assert!(
        lines.last().unwrap().starts_with("   100 %  packed "),
        "{lines:?}"
    );
}

#[test]
fn a_part_that_is_missing_is_named_where_it_can_still_be_made() {
    for (path, wanted) in [
        (
            "bin/sandbox-relay",
            "sandbox-relay is missing: it was not built",
        ),
        (
            "static/dist/manifest.json",
            "static/dist is not complete: manifest.json is missing there",
        ),
        ("tools/control-plane/kube", "tools/etcd is missing"),
        (
            "images/outils-0123456789abcdef.tar",
            "the image outils is missing: `cargo xtask images outils` builds it",
        ),
    ] {
        let folder = Folder::new("bundle-part");
        fs::remove_file(folder.0.join(path)).unwrap();
        let error = format!("{:#}", folder.contents().gather().unwrap_err());
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn a_link_out_of_the_tree_is_refused_and_no_half_archive_stays() {
    let folder = Folder::new("bundle-link");
    symlink("/usr/bin/true", folder.0.join("labs/kubectl")).unwrap();
    let files = folder.contents().gather().unwrap();
    let error = write(&files, &folder.0.join("out.tar"), &mut |_| ()).unwrap_err();
    let error = format!("{error:#}");
    assert!(
        error.contains("/usr/bin/true") && error.contains("nowhere"),
        "{error}"
    );
    assert!(!folder.0.join("out.tar.partial").exists());
    assert!(!folder.0.join("out.tar").exists());
}
