use std::io::Read as _;

use super::{Layer, matches};

/// What a layer holds: path, kind and mode, or target of a link.
fn entries(bytes: &[u8]) -> Vec<String> {
    let mut archive = tar::Archive::new(bytes);
    let shown = |entry: tar::Entry<'_, &[u8]>| {
        let path = entry.path().unwrap().display().to_string();
        match entry.link_name().unwrap() {
            Some(target) => format!("{path} -> {}", target.display()),
            None => format!("{path} {:o}", entry.header().mode().unwrap()),
        }
    };
    archive
        .entries()
        .unwrap()
        .map(|entry| shown(entry.unwrap()))
        .collect()
}

/// The payload of a package, as dpkg-deb gives it.
fn payload(files: &[(&str, &str)], links: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        if path.ends_with('/') {
            header.set_entry_type(tar::EntryType::Directory);
        }
        header.set_mode(0o755);
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    for (path, target) in links {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        tar.append_link(&mut header, path, target).unwrap();
    }
    tar.into_inner().unwrap()
}

#[test]
fn packages_of_an_old_layout_land_in_the_merged_one() {
    let mut bytes = Vec::new();
    let mut layer = Layer::new(&mut bytes);
    layer.merged_root().unwrap();
    let package = payload(
        &[
            ("./", ""),
            ("./bin/", ""),
            ("./bin/bash", "elf"),
            ("./usr/bin/env", "elf"),
            ("./lib/x/", ""),
            ("./lib/x/libc.so", "elf"),
        ],
        &[("./bin/sh", "bash")],
    );
    layer.package(package.as_slice(), &mut Vec::new()).unwrap();
    layer.finish().unwrap();
    let entries = entries(&bytes);
    for expected in [
        "bin -> usr/bin",
        "usr/bin/bash 755",
        "usr/bin/env 755",
        "usr/lib/x/libc.so 755",
        "usr/bin/sh -> bash",
    ] {
        assert!(
            entries.contains(&expected.to_owned()),
            "{expected} in {entries:?}"
        );
    }
    assert!(
        !entries.iter().any(|entry| entry.starts_with("bin/")),
        "{entries:?}"
    );
}

#[test]
fn what_is_left_out_is_and_certificates_are_handed_over() {
    let mut bytes = Vec::new();
    let mut certificates = Vec::new();
    let mut layer = Layer::new(&mut bytes);
    layer.leave_out(vec!["usr/share/doc/*".to_owned()]);
    let package = payload(
        &[
            ("./usr/share/doc/x/copyright", "text"),
            ("./usr/share/ca-certificates/a.crt", "AAA\n"),
            ("./usr/share/ca-certificates/b.crt", "BBB\n"),
        ],
        &[],
    );
    layer
        .package(package.as_slice(), &mut certificates)
        .unwrap();
    layer.finish().unwrap();
    assert_eq!(certificates, b"AAA\nBBB\n");
    assert!(
        !entries(&bytes)
            .iter()
            .any(|entry| entry.contains("copyright"))
    );
}

#[test]
fn the_same_content_has_the_same_hash_and_another_one_another() {
    let build = |text: &str| {
        let mut layer = Layer::new(Vec::new());
        layer.file("etc/passwd", 0o644, text.as_bytes()).unwrap();
        layer.folder("tmp", 0o1777, 0).unwrap();
        layer.finish().unwrap()
    };
    assert_eq!(build("root"), build("root"));
    assert_ne!(build("root").0, build("toor").0);
}

#[test]
fn parents_are_there_once_and_files_do_not_hide_each_other() {
    let mut bytes = Vec::new();
    let mut layer = Layer::new(&mut bytes);
    layer.file("etc/a/b", 0o600, b"1").unwrap();
    layer.file("etc/a/c", 0o600, b"2").unwrap();
    assert!(
        layer
            .file("etc/a/c", 0o600, b"3")
            .unwrap_err()
            .to_string()
            .contains("/etc/a/c")
    );
    layer.finish().unwrap();
    assert_eq!(
        entries(&bytes),
        ["etc 755", "etc/a 755", "etc/a/b 600", "etc/a/c 600"]
    );
    let mut text = String::new();
    let mut archive = tar::Archive::new(bytes.as_slice());
    archive
        .entries()
        .unwrap()
        .nth(2)
        .unwrap()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "1");
}

#[test]
fn patterns_match_whole_paths() {
    for (pattern, path, expected) in [
        ("usr/share/doc/*", "usr/share/doc/bash/README", true),
        ("usr/share/doc/*", "usr/share/doc", false),
        (
            "usr/lib/python3*/test/*",
            "usr/lib/python3.11/test/x.py",
            true,
        ),
        (
            "usr/lib/python3*/test/*",
            "usr/lib/python3.11/unittest/x.py",
            false,
        ),
        ("numpy/*/tests/*", "numpy/core/tests/a.py", true),
        ("bin/x", "bin/x", true),
        ("bin/x", "bin/xy", false),
    ] {
        assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
    }
}
