use course::Half;

use super::Library;
use crate::web::tests::fixtures;

#[test]
fn labs_are_found_by_name_and_by_half_day() {
    let library = Library::load(&fixtures().join("labs")).unwrap();
    assert_eq!(library.lab("essai").unwrap().rules.minutes, 90);
    assert!(library.lab("autre").is_none());
    assert!(library.at(1, Half::Am).is_some());
    assert!(library.at(1, Half::Pm).is_none());
}

#[test]
fn a_lab_with_faults_is_set_aside_with_its_faults() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("faux")).unwrap();
    std::fs::write(
        dir.path().join("faux/lab.yaml"),
        "format: 1\nid: faux\ntypo: 3\n",
    )
    .unwrap();
    let library = Library::load(dir.path()).unwrap();
    assert_eq!(library.labs().len(), 0);
    let (name, findings) = &library.broken[0];
    assert_eq!(name, "faux");
    assert!(
        findings.contains("lab.yaml") && findings.contains("typo"),
        "{findings}"
    );
}
