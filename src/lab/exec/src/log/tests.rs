use super::RotatingLog;

#[test]
fn keeps_the_newest_lines_and_a_bounded_number_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.log");
    let mut log = RotatingLog::new(&path).limits(10, 2);
    for line in [
        "aaaa\n", "bbbb\n", "cccc\n", "dddd\n", "eeee\n", "ffff\n", "gggg\n",
    ] {
        log.write(line.as_bytes());
    }
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read("x.log"), "gggg\n");
    assert_eq!(read("x.log.1"), "eeee\nffff\n");
    assert_eq!(read("x.log.2"), "cccc\ndddd\n");
    assert!(!dir.path().join("x.log.3").exists());
}

#[test]
fn goes_on_after_a_restart_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.log");
    RotatingLog::new(&path).limits(10, 1).write(b"12345678");
    RotatingLog::new(&path).limits(10, 1).write(b"9");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "123456789");
}

#[test]
fn an_unwritable_place_loses_lines_and_nothing_else() {
    let mut log = RotatingLog::new("/proc/no-such-place/x.log");
    log.write(b"lost");
    assert!(!log.path().exists());
}
