//! The rules of the house hold: the same check as `cargo xtask tidy`.

#[test]
fn the_workspace_is_tidy() {
    let problems = xtask::tidy::problems(&xtask::run::root()).expect("the workspace can be read");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
