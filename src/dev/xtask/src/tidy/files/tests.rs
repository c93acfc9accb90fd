use super::one;

fn lines(count: usize) -> String {
    "// a line\n".repeat(count)
}

#[test]
fn long_files_are_found() {
    assert!(one("src/lab/x/src/a.rs", &lines(400)).is_empty());
    assert_eq!(one("src/lab/x/src/a.rs", &lines(401)).len(), 1);
    assert!(
        one("src/lab/x/src/a/tests.rs", &lines(401)).is_empty(),
        "tables of tests may be longer"
    );
    assert_eq!(one("src/lab/x/src/a/tests.rs", &lines(801)).len(), 1);
}

#[test]
fn stubs_are_found_with_their_line() {
    let stub = format!("fn a() {{\n    {}{}\n}}\n", "todo", "!()");
    let problems = one("src/lab/x/src/a.rs", &stub);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("src/lab/x/src/a.rs:2: "),
        "{problems:?}"
    );
}

#[test]
fn a_client_belongs_to_few_rooms() {
    let text = "use kube::Client;\n";
    assert!(one("src/kueue/controllers/src/a.rs", text).is_empty());
    assert_eq!(one("src/kueue/scheduler/src/a.rs", text).len(), 1);
}
