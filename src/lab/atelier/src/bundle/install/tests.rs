use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{BundleError, Places, check, install};

/// A bundle with a program, an image and a link, and folders to install it into.
struct Machine {
    temp: tempfile::TempDir,
}

const FILES: [(&str, &str, u32); 2] = [
    ("app/bin/atelier", "the program", 0o755),
    ("cache/images/outils-1.tar", "the image", 0o644),
];

fn listed() -> Vec<Value> {
    let mut files: Vec<Value> = FILES
        .iter()
        .map(|(path, text, mode)| {
            let sha256 = hex::encode(Sha256::digest(text));
            json!({"path": path, "bytes": text.len(), "sha256": sha256, "mode": mode})
        })
        .collect();
    files.push(json!({"path": "cache/images/outils.tar", "bytes": 0, "sha256": "", "mode": 511, "link": "outils-1.tar"}));
    files
}

fn list(files: &[Value]) -> Value {
    json!({"format": 1, "version": "0.1.0", "architecture": std::env::consts::ARCH, "files": files})
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

    /// Writes an archive with this list and these contents, in the order of the list.
    fn bundle(&self, list: &Value, contents: &[(&str, &str)]) -> PathBuf {
        let path = self.temp.path().join("bundle.tar");
        let mut tar = tar::Builder::new(fs::File::create(&path).unwrap());
        let mut add = |name: &str, data: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, data).unwrap();
        };
        add("bundle.json", list.to_string().as_bytes());
        for (name, text) in contents {
            add(name, text.as_bytes());
        }
        tar.into_inner().unwrap();
        path
    }

    fn good(&self) -> PathBuf {
        let contents = FILES.map(|(path, text, _)| (path, text));
        let link = ("cache/images/outils.tar", "");
        self.bundle(&list(&listed()), &[contents[0], contents[1], link])
    }
}

fn refused(file: &Path, places: &Places) -> String {
    let error = install(file, places).unwrap_err();
    assert!(
        !places.app.exists(),
        "a broken bundle left {}",
        places.app.display()
    );
    error.to_string()
}

#[test]
fn everything_is_put_in_place_as_listed() {
    let machine = Machine::new();
    let (file, places) = (machine.good(), machine.places());
    assert_eq!(check(&file).unwrap().files, 3);
    let done = install(&file, &places).unwrap();
    assert_eq!(
        (done.files, done.bytes, done.version.as_str()),
        (3, 20, "0.1.0")
    );
    let program = places.app.join("bin/atelier");
    assert_eq!(fs::read_to_string(&program).unwrap(), "the program");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&program).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o755);
    let image = places.cache.join("images/outils.tar");
    assert_eq!(fs::read_to_string(image).unwrap(), "the image");
}

#[test]
fn a_second_installation_replaces_the_first_whole() {
    let machine = Machine::new();
    let (file, places) = (machine.good(), machine.places());
    install(&file, &places).unwrap();
    fs::write(places.app.join("left-over"), "of an older version").unwrap();
    install(&file, &places).unwrap();
    assert!(!places.app.join("left-over").exists());
    let beside = fs::read_dir(machine.temp.path()).unwrap().count();
    assert_eq!(beside, 3, "the bundle, the programs and the cache");
}

#[test]
fn a_changed_file_is_named_and_the_installation_that_works_stays() {
    let machine = Machine::new();
    let places = machine.places();
    install(&machine.good(), &places).unwrap();
    let altered = machine.bundle(
        &list(&listed()),
        &[
            ("app/bin/atelier", "the pr0gram"),
            ("cache/images/outils-1.tar", "the image"),
            ("cache/images/outils.tar", ""),
        ],
    );
    let error = install(&altered, &places).unwrap_err();
    assert!(
        matches!(&error, BundleError::Altered(path) if path == "app/bin/atelier"),
        "{error}"
    );
    assert!(check(&altered).is_err());
    let program = fs::read_to_string(places.app.join("bin/atelier")).unwrap();
    assert_eq!(program, "the program");
}

#[test]
fn one_that_was_not_copied_whole_says_so() {
    let machine = Machine::new();
    let few = machine.bundle(&list(&listed()), &[("app/bin/atelier", "the program")]);
    let said = refused(&few, &machine.places());
    assert_eq!(said, "it ends after 1 of 3 files: it was not copied whole");
    // Cut in the middle of the image, as a full stick leaves it.
    let whole = fs::read(machine.good()).unwrap();
    let at = whole
        .windows(9)
        .position(|part| part == b"the image")
        .unwrap();
    let cut = machine.temp.path().join("cut.tar");
    fs::write(&cut, &whole[..at + 4]).unwrap();
    let said = refused(&cut, &machine.places());
    assert!(said.contains("outils-1.tar"), "{said}");
    assert!(!machine.places().cache.join("images/outils-1.tar").exists());
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
        let machine = Machine::new();
        let path = file["path"].as_str().unwrap().to_owned();
        let bundle = machine.bundle(&list(&[file]), &[]);
        let said = refused(&bundle, &machine.places());
        assert_eq!(
            said,
            format!("the bundle lists `{path}`, which is not a place for its files")
        );
    }
    // A link to a neighbour is fine: the programs of the control plane are one.
    let machine = Machine::new();
    let neighbour = json!({"path": "cache/tools/etcd-3/etcd", "bytes": 0, "sha256": "", "mode": 511, "link": "../control-plane/program"});
    let bundle = machine.bundle(&list(&[neighbour]), &[("cache/tools/etcd-3/etcd", "")]);
    assert_eq!(install(&bundle, &machine.places()).unwrap().files, 1);
}

#[test]
fn another_machine_s_bundle_and_what_is_none_are_refused_in_words() {
    let machine = Machine::new();
    let mut other = list(&listed());
    other["architecture"] = json!("riscv64");
    let said = refused(&machine.bundle(&other, &[]), &machine.places());
    assert!(
        said.starts_with("the bundle is for riscv64, this machine is "),
        "{said}"
    );
    let mut newer = list(&listed());
    newer["format"] = json!(2);
    let said = refused(&machine.bundle(&newer, &[]), &machine.places());
    assert_eq!(said, "the bundle has format 2; this program reads format 1");
    let picture = machine.temp.path().join("picture.png");
    fs::write(&picture, "PNG").unwrap();
    let said = refused(&picture, &machine.places());
    assert!(said.contains("not a bundle"), "{said}");
}
