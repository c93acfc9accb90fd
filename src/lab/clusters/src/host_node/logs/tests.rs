use exec::Stream;
use jiff::Timestamp;

use super::{ContainerKey, Cursor, Lines, LogBooks, Query};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn key() -> ContainerKey {
    ("ns".to_owned(), "pod".to_owned(), "c".to_owned())
}

async fn read(query: Query) -> String {
    let dir = tempfile::tempdir().unwrap();
    let log = LogBooks::default().begin(&key(), dir.path(), 0);
    let mut writer = log.writer();
    for (second, text) in [(0, "un"), (10, "deux mots"), (20, ""), (30, "quatre")] {
        writer.line(Stream::Stdout, text, at(second));
    }
    drop(writer);
    let mut cursor = Cursor::new(log, query);
    let mut all = String::new();
    while let Some(text) = cursor.next().await {
        all.push_str(&text);
    }
    all
}

#[tokio::test]
async fn a_query_picks_lines() {
    let cases: [(&str, Query, &str); 6] = [
        ("all", Query::default(), "un\ndeux mots\n\nquatre\n"),
        (
            "tail",
            Query {
                tail: Some(2),
                ..Query::default()
            },
            "\nquatre\n",
        ),
        (
            "tail nothing",
            Query {
                tail: Some(0),
                ..Query::default()
            },
            "",
        ),
        (
            "since",
            Query {
                since: Some(at(10)),
                ..Query::default()
            },
            "deux mots\n\nquatre\n",
        ),
        (
            "limit",
            Query {
                limit_bytes: Some(5),
                ..Query::default()
            },
            "un\nde",
        ),
        (
            "timestamps",
            Query {
                timestamps: true,
                tail: Some(1),
                ..Query::default()
            },
            "2027-01-15T08:00:30.000000000Z quatre\n",
        ),
    ];
    for (name, query, expected) in cases {
        assert_eq!(read(query).await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_follower_sees_what_comes_and_ends_with_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let log = LogBooks::default().begin(&key(), dir.path(), 0);
    let mut writer = log.writer();
    writer.line(Stream::Stdout, "avant", at(0));
    let mut cursor = Cursor::new(
        log,
        Query {
            follow: true,
            ..Query::default()
        },
    );
    assert_eq!(cursor.next().await.as_deref(), Some("avant\n"));
    writer.line(Stream::Stderr, "après", at(1));
    assert_eq!(cursor.next().await.as_deref(), Some("après\n"));
    drop(writer);
    assert_eq!(cursor.next().await, None);
}

#[tokio::test]
async fn a_log_that_turned_over_loses_its_oldest_lines_only() {
    let dir = tempfile::tempdir().unwrap();
    let log = LogBooks::default().begin(&key(), dir.path(), 0);
    let mut writer = log.writer();
    let long = "x".repeat(1024 * 1024);
    for second in 0..20 {
        writer.line(Stream::Stdout, &format!("{second} {long}"), at(second));
    }
    drop(writer);
    let mut cursor = Cursor::new(log, Query::default());
    let text = cursor.next().await.unwrap();
    let numbers: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(numbers.last(), Some(&"19"));
    let first: usize = numbers[0].parse().unwrap();
    assert!(first > 0 && numbers.len() == 20 - first, "{numbers:?}");
}

#[test]
fn the_run_before_is_kept_and_the_one_before_that_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let books = LogBooks::default();
    for run in 0..3 {
        books
            .begin(&key(), dir.path(), run)
            .writer()
            .line(Stream::Stdout, "x", at(0));
    }
    let mut left: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["1.log", "2.log"]);
    assert!(books.find(&key(), true).unwrap().is_some());
    books.forget(&key());
    assert!(books.find(&key(), false).is_none());
}

#[test]
fn pieces_become_lines_and_long_ones_are_cut() {
    let mut said = Vec::new();
    let mut lines = Lines::default();
    for piece in ["un\r\nde", "ux\n", "\n", &"x".repeat(20_000), "\nfin"] {
        lines.add(Stream::Stdout, piece.as_bytes(), |line| {
            said.push(line.len());
        });
    }
    lines.add(Stream::Stderr, b"erreur", |line| said.push(line.len()));
    lines.finish(|_, line| said.push(line.len()));
    assert_eq!(said, [2, 4, 0, 16_384, 3_616, 3, 6]);
}
