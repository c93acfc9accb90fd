use std::path::{Path, PathBuf};

use expect_test::expect_file;
use simulator::Player;

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "sim"))
        .collect();
    scripts.sort();
    scripts
}

/// Each script prints what the text beside it says, and nothing is ever wrong.
fn play(folder: &str, at_least: usize) {
    let scripts = scripts(folder);
    assert!(scripts.len() >= at_least, "only {} scripts", scripts.len());
    for path in scripts {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut player = Player::new(&name);
        let text = std::fs::read_to_string(&path).unwrap();
        let printed = match player.script(&text) {
            Ok(printed) => printed,
            Err((printed, error)) => panic!("{printed}{error}"),
        };
        assert_eq!(player.violations(), [] as [&str; 0], "{name}\n{printed}");
        expect_file![path.with_extension("txt")].assert_eq(&printed);
    }
}

#[test]
fn each_lesson_prints_what_its_text_says_and_nothing_is_ever_wrong() {
    play("scenarios", 12);
}

#[test]
fn what_random_worlds_found_once_stays_settled() {
    play("tests/settled", 8);
}
