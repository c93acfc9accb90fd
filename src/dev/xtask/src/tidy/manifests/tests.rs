use super::member;

#[test]
fn versions_in_a_member_are_found() {
    let text = "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n\n[dependencies]\nserde.workspace = true\ntoml = \"1\"\nkube = { workspace = true, features = [] }\n";
    assert_eq!(
        member("m", text),
        ["m:9: a member writes `name.workspace = true`; versions live in the root manifest"]
    );
}

#[test]
fn a_member_without_the_lints_is_found() {
    assert_eq!(
        member("m", "[package]\n"),
        ["m: `[lints] workspace = true` is missing"]
    );
}
