//! Every lab of the repository is without faults.

use course::{Known, Lab, LabSource, Language};
use std::{collections::BTreeMap, fs, path::Path};

fn collect(root: &Path, dir: &Path, into: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, into);
        } else if let Ok(text) = fs::read_to_string(&path) {
            into.insert(
                path.strip_prefix(root)
                    .expect("below")
                    .display()
                    .to_string(),
                text,
            );
        }
    }
}

#[test]
fn every_lab_of_the_repository_reads_without_a_finding() {
    let labs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../labs");
    let stem = |path: &Path| {
        path.file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    let profiles = fs::read_dir(labs.join("profiles"))
        .expect("profiles")
        .flatten()
        .map(|entry| stem(&entry.path()));
    let known = Known {
        profiles: profiles.collect(),
    };
    let mut seen = 0;
    for entry in fs::read_dir(&labs).expect("labs").flatten() {
        let dir = entry.path();
        if !dir.join("lab.yaml").is_file() {
            continue;
        }
        let folder = entry.file_name().to_string_lossy().into_owned();
        let mut files = BTreeMap::new();
        collect(&dir, &dir, &mut files);
        match Lab::read(
            &LabSource {
                folder: folder.clone(),
                files,
            },
            &known,
        ) {
            Ok(lab) => {
                assert!(lab.rules.points() > 0 && !lab.texts(Language::Fr).title().is_empty());
                seen += 1;
            }
            Err(findings) => panic!("{folder}:\n{findings}"),
        }
    }
    assert!(seen > 0, "there is at least one lab");
}
