use super::History;

fn filled(limits: (usize, usize), pieces: &[&str]) -> History {
    let mut history = History::with_limits(limits.0, 0, limits.1);
    pieces
        .iter()
        .for_each(|piece| history.push(piece.as_bytes().to_vec()));
    history
}

fn text(history: &History, from: u64, limit: usize) -> String {
    String::from_utf8(history.since(from, limit)).unwrap()
}

#[test]
fn a_reader_gets_the_rest_once_from_any_position() {
    let history = filled((10, 100), &["abc", "", "defg", "h"]);
    for from in 0..=8 {
        assert_eq!(
            text(&history, from, 100),
            "abcdefgh"[usize::try_from(from).unwrap()..],
            "from {from}"
        );
    }
    assert_eq!(text(&history, 2, 3), "cde");
    assert_eq!(text(&history, 8, 3), "");
    assert_eq!(text(&history, 99, 3), "");
}

#[test]
fn lines_beyond_the_limit_are_forgotten_and_no_others() {
    let history = filled((2, 100), &["a\n", "b\n", "c\n", "d"]);
    assert_eq!((history.start(), history.end()), (2, 7));
    assert_eq!(text(&history, 2, 100), "b\nc\nd");
}

#[test]
fn short_lines_are_kept_until_there_are_bytes_enough() {
    let mut history = History::with_limits(2, 6, 100);
    for _ in 0..50 {
        history.push(b"y\n".to_vec());
    }
    assert_eq!((history.start(), history.end()), (94, 100));
}

#[test]
fn one_endless_line_stays_within_the_bytes() {
    let mut history = History::with_limits(10, 0, 1000);
    for _ in 0..1000 {
        history.push(vec![b'x'; 100]);
    }
    assert!(history.end() - history.start() <= 1000);
    assert_eq!(history.end(), 100_000);
}

#[test]
fn a_fresh_page_begins_at_a_line() {
    assert_eq!(filled((2, 100), &["a\n"]).fresh_start(), 0);
    let cut = filled((1, 100), &["aa\n", "bb\ncc\n"]);
    assert_eq!(cut.start(), 3);
    assert_eq!(text(&cut, cut.fresh_start(), 9), "cc\n");
    let no_line = filled((9, 3), &["aaa", "bbb"]);
    assert_eq!(no_line.fresh_start(), no_line.start());
}
