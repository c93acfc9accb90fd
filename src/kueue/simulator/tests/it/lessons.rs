use std::path::{Path, PathBuf};

use expect_test::expect_file;
use simulator::Player;

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "sim"))
        .collect();
    scripts.sort();
    scripts
}

#[test]
fn each_lesson_prints_what_its_text_says_and_nothing_is_ever_wrong() {
    let scripts = scripts();
    assert!(scripts.len() >= 12, "only {} scripts", scripts.len());
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
