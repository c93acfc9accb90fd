use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clusters::tools::Tool;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::install::{self, Places};
use super::line;
use super::read::{BundleError, Done, Progress};
use super::stage::Lock;

/// Everything that the platform needs, in a few bytes.
const FILES: [(&str, &str, u32); 8] = [
    ("app/bin/atelier", "the program", 0o755),
    ("app/bin/environment-supervisor", "supervisor", 0o755),
    ("app/bin/sandbox-relay", "relay", 0o755),
    ("app/bin/kueue-manager", "manager", 0o755),
    ("app/labs/d1-am/lab.yaml", "a lab", 0o644),
    ("app/static/dist/manifest.json", "{}", 0o644),
    ("app/manifests/kueue/Chart.yaml", "chart", 0o644),
    (IMAGE, "the image", 0o644),
];
const IMAGE: &str = "cache/images/outils-0123456789abcdef.tar";

/// A bundle to be written: its list, and what follows it.
struct Bundle {
    list: Value,
    contents: Vec<(String, String)>,
}

impl Bundle {
    fn new() -> Self {
        let mut bundle = Self {
            list: json!({
                "format": 1, "version": "0.1.0", "architecture": std::env::consts::ARCH, "files": [],
            }),
            contents: Vec::new(),
        };
        for (path, text, mode) in FILES {
            bundle.add(path, text, mode);
        }
        for tool in Tool::ALL {
            let path = format!("cache/tools/{0}-{1}/{0}", tool.name(), tool.version());
            bundle.add(&path, tool.name(), 0o755);
        }
        bundle.add("cache/images/outils.yaml", &"long ".repeat(300), 0o644);
        bundle.link("cache/images/outils.tar", "outils-0123456789abcdef.tar");
        bundle
    }

    fn list(&mut self, entry: Value) {
        self.list["files"].as_array_mut().unwrap().push(entry);
    }

    fn add(&mut self, path: &str, text: &str, mode: u32) {
        let sha256 = hex::encode(Sha256::digest(text));
        self.list(json!({"path": path, "bytes": text.len(), "sha256": sha256, "mode": mode}));
        self.contents.push((path.to_owned(), text.to_owned()));
    }

    fn link(&mut self, path: &str, target: &str) {
        self.list(json!({"path": path, "bytes": 0, "sha256": "", "mode": 511, "link": target}));
        self.contents.push((path.to_owned(), String::new()));
    }

    /// Neither in the list nor in the archive.
    fn without(mut self, path: &str) -> Self {
        let files = self.list["files"].as_array_mut().unwrap();
        files.retain(|file| file["path"] != path);
        self.contents.retain(|(name, _)| name != path);
        self
    }

    /// In the archive another text than the list says.
    fn altered(mut self, path: &str, text: &str) -> Self {
        for (name, content) in &mut self.contents {
            if name == path {
                text.clone_into(content);
            }
        }
        self
    }

    fn write(&self, to: &Path) -> PathBuf {
        let mut tar = tar::Builder::new(fs::File::create(to).unwrap());
        let mut add = |name: &str, data: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, data).unwrap();
        };
        add("bundle.json", self.list.to_string().as_bytes());
        for (name, text) in &self.contents {
            add(name, text.as_bytes());
        }
        tar.into_inner().unwrap();
        to.to_owned()
    }
}

/// Folders to install into.
struct Machine {
    temp: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        Self {
            temp: tempfile::tempdir().unwrap(),
        }
    }

    fn places(&self) -> Places {
        Places {
            app: self.temp.path().join("app"),
            cache: self.temp.path().join("cache"),
        }
    }

    fn write(&self, bundle: &Bundle) -> PathBuf {
        bundle.write(&self.temp.path().join("bundle.tar"))
    }

    fn install(&self, file: &Path) -> Result<Done, BundleError> {
        install::install(file, &self.places(), &mut |_| true)
    }

    /// Every file and link below the two folders, with contents.
    fn holds(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for name in ["app", "app.new", "cache"] {
            walk(&self.temp.path().join(name), name, &mut found);
        }
        found.retain(|(name, _)| name != "cache/bundle.lock");
        found.sort();
        found
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.temp.path().join(path)).unwrap()
    }
}

fn walk(folder: &Path, shown: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{shown}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &name, found);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            found.push((name, text));
        }
    }
}

/// What it says when it refuses; nothing of it may be left.
fn refused(bundle: &Bundle) -> String {
    let machine = Machine::new();
    let error = machine.install(&machine.write(bundle)).unwrap_err();
    assert_eq!(machine.holds(), [], "after {error}");
    assert!(!machine.places().app.exists());
    error.to_string()
}

#[test]
fn everything_is_put_in_place_as_listed() {
    let machine = Machine::new();
    let file = machine.write(&Bundle::new());
    assert_eq!(install::check(&file, &mut |_| true).unwrap().files, 18);
    assert_eq!(machine.holds(), [], "a check writes nothing");
    let done = machine.install(&file).unwrap();
    assert_eq!((done.files, done.version.as_str()), (18, "0.1.0"));
    assert_eq!(machine.read("app/bin/atelier"), "the program");
    let program = fs::metadata(machine.temp.path().join("app/bin/atelier")).unwrap();
    assert_eq!(program.permissions().mode() & 0o777, 0o755);
    assert_eq!(machine.read("cache/images/outils.tar"), "the image");
    let beside = fs::read_dir(machine.temp.path()).unwrap().count();
    assert_eq!(beside, 3, "the bundle, the programs and the cache");
    assert_eq!(machine.holds().len(), 18);
}

#[test]
fn a_second_installation_replaces_the_first_whole_and_old_images_go() {
    let machine = Machine::new();
    let file = machine.write(&Bundle::new());
    machine.install(&file).unwrap();
    let write = |path: &str| fs::write(machine.temp.path().join(path), "older").unwrap();
    write("app/left-over");
    write("cache/images/outils-fedcba9876543210.tar");
    write("cache/images/trainer-fedcba9876543210.tar");
    write("cache/tools/lock");
    machine.install(&file).unwrap();
    let names: Vec<String> = machine.holds().into_iter().map(|(name, _)| name).collect();
    let there = |name: &str| names.iter().any(|known| known == name);
    assert!(!there("app/left-over"));
    assert!(!there("cache/images/outils-fedcba9876543210.tar"));
    assert!(
        there("cache/images/trainer-fedcba9876543210.tar"),
        "of no image in this bundle"
    );
    assert!(there("cache/tools/lock"));
    assert!(there(IMAGE));
}

#[test]
fn a_changed_file_is_named_and_nothing_changes() {
    let machine = Machine::new();
    machine.install(&machine.write(&Bundle::new())).unwrap();
    let before = machine.holds();
    for path in ["app/bin/atelier", IMAGE] {
        let altered = machine.write(&Bundle::new().altered(path, "the 1mage"));
        let error = machine.install(&altered).unwrap_err();
        assert!(
            matches!(&error, BundleError::Altered(named) if named == path),
            "{error}"
        );
        assert!(install::check(&altered, &mut |_| true).is_err());
        assert_eq!(machine.holds(), before);
    }
}

#[test]
fn one_that_was_not_copied_whole_says_so_wherever_it_ends() {
    let machine = Machine::new();
    let whole = fs::read(machine.write(&Bundle::new())).unwrap();
    let cut = machine.temp.path().join("cut.tar");
    let mut said = std::collections::BTreeSet::new();
    // Between two blocks and within them; the last blocks of an archive are empty and may be missing.
    for length in (300..whole.len() - 2048).step_by(331) {
        fs::write(&cut, &whole[..length]).unwrap();
        let error = machine.install(&cut).unwrap_err();
        assert_eq!(machine.holds(), [], "{length} bytes: {error}");
        said.insert(error.to_string());
    }
    for path in ["bundle.json", "cache/images/outils.yaml"] {
        let wanted = format!("it ends in the middle of `{path}`: it was not copied whole");
        assert!(said.contains(&wanted), "{said:?}");
    }
    assert!(said.contains("it ends after 3 of 18 files: it was not copied whole"));
    assert!(
        said.contains("it does not begin with its list: this is not a bundle of Atelier Kueue")
    );
}

#[test]
fn a_missing_part_is_named_before_anything_is_written() {
    for (path, name) in [
        ("app/bin/sandbox-relay", "the program sandbox-relay"),
        ("app/labs/d1-am/lab.yaml", "the labs"),
        ("app/static/dist/manifest.json", "the front end"),
        ("cache/tools/etcd-3.7.3/etcd", "etcd 3.7.3"),
        ("cache/tools/kind-0.33.0/kind", "kind 0.33.0"),
    ] {
        let said = refused(&Bundle::new().without(path));
        let wanted = format!(
            "the bundle lacks {name}: make it again with `cargo xtask bundle`, of this version"
        );
        assert_eq!(said, wanted);
    }
    let said = refused(&Bundle::new().without(IMAGE));
    assert_eq!(
        said,
        format!(
            "the bundle lists `cache/images/outils.tar`, which leads to `{IMAGE}`, which is not in it"
        )
    );
}

#[test]
fn an_interrupted_installation_leaves_what_was_there() {
    let machine = Machine::new();
    let file = machine.write(&Bundle::new());
    for when in 1..17 {
        let mut count = 0;
        let stopped = install::install(&file, &machine.places(), &mut |_| {
            count += 1;
            count < when
        });
        assert!(matches!(stopped, Err(BundleError::Interrupted)), "{when}");
        assert_eq!(machine.holds(), []);
    }
    // A killed one could not clean up; the next does.
    for left in ["app.new/bin", "cache/being-installed/images"] {
        let folder = machine.temp.path().join(left);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("half"), "hal").unwrap();
    }
    machine.install(&file).unwrap();
    assert_eq!(machine.holds().len(), 18);
}

#[test]
fn two_at_once_do_not_mix() {
    let machine = Machine::new();
    let file = machine.write(&Bundle::new());
    let lock = Lock::take(&machine.places().cache).unwrap();
    let error = machine.install(&file).unwrap_err();
    assert!(matches!(error, BundleError::Busy(_)), "{error}");
    drop(lock);
    machine.install(&file).unwrap();
}

#[test]
fn what_the_disk_cannot_hold_is_refused_first() {
    let mut bundle = Bundle::new();
    let petabyte = 1_000_000_000_000_000_u64;
    bundle.list(json!({"path": "cache/images/huge", "bytes": petabyte, "sha256": "", "mode": 420}));
    let said = refused(&bundle);
    assert!(
        said.contains("MB free, and 1000000067 MB are needed"),
        "{said}"
    );
}

#[test]
fn a_list_cannot_reach_outside_its_folders() {
    let outside = [
        json!({"path": "app/../../etc/passwd", "bytes": 0, "sha256": "", "mode": 420}),
        json!({"path": "/etc/passwd", "bytes": 0, "sha256": "", "mode": 420}),
        json!({"path": "etc/passwd", "bytes": 0, "sha256": "", "mode": 420}),
        json!({"path": "app/", "bytes": 0, "sha256": "", "mode": 420}),
        json!({"path": "app/link", "bytes": 0, "sha256": "", "mode": 420, "link": "/etc/passwd"}),
        json!({"path": "app/bin/link", "bytes": 0, "sha256": "", "mode": 420, "link": "../../x"}),
    ];
    for file in outside {
        let path = file["path"].as_str().unwrap().to_owned();
        let mut bundle = Bundle::new();
        bundle.list(file);
        let wanted = format!("the bundle lists `{path}`, which is not a place for its files");
        assert_eq!(refused(&bundle), wanted);
    }
    // A link to a neighbour is fine: one program may have several names.
    let machine = Machine::new();
    let scheduler = Tool::KubeScheduler;
    let path = format!(
        "cache/tools/{0}-{1}/{0}",
        scheduler.name(),
        scheduler.version()
    );
    let mut bundle = Bundle::new().without(&path);
    bundle.link(&path, "../etcd-3.7.3/etcd");
    machine.install(&machine.write(&bundle)).unwrap();
    assert_eq!(machine.read(&path), "etcd");
}

#[test]
fn another_machine_s_bundle_and_what_is_none_are_refused_in_words() {
    let mut other = Bundle::new();
    other.list["architecture"] = json!("riscv64");
    let said = refused(&other);
    assert!(
        said.starts_with("the bundle is for riscv64, this machine is "),
        "{said}"
    );
    let mut newer = Bundle::new();
    newer.list["format"] = json!(2);
    let wanted = "the bundle has format 2; this program reads format 1";
    assert_eq!(refused(&newer), wanted);
    let machine = Machine::new();
    let picture = machine.temp.path().join("picture.png");
    fs::write(&picture, "PNG").unwrap();
    let said = machine.install(&picture).unwrap_err().to_string();
    assert!(said.contains("not a bundle"), "{said}");
}

#[test]
fn progress_is_a_line_for_every_twentieth() {
    let mut steps = 0;
    let lines: Vec<String> = (0..=1000_u64)
        .filter_map(|part| {
            let progress = Progress {
                passed: part * 1_000_000,
                total: 1_000_000_000,
                path: "cache/images/node.tar",
            };
            line(&progress, &mut steps)
        })
        .collect();
    assert_eq!(lines.len(), 20);
    assert_eq!(lines[6], " 35 %  350 of 1000 MB  cache/images/node.tar");
}
