use super::Counts;

#[test]
fn closing_lines_and_skips_add_up() {
    let mut counts = Counts::default();
    for line in [
        "running 3 tests",
        "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        "skipped: no corpus beside the project",
        "test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
    ] {
        counts.read(line);
    }
    assert_eq!(
        counts,
        Counts {
            passed: 6,
            failed: 1,
            skipped: 2
        }
    );
}
