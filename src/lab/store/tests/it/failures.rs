use crate::entry;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, Executor};
use std::os::unix::fs::PermissionsExt;
use store::{Store, StoreError};

/// SQLite's own limit on pages stands for a full disk: the same code comes back.
#[tokio::test]
async fn a_full_disk_is_told_in_words() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.db");
    let store = Store::open(&path).await.expect("open");
    store
        .append("solo", &[entry(1, "a")])
        .await
        .expect("append");
    store.limit_pages(24).await.expect("limit");
    let mut full = None;
    for seq in 2..=2000 {
        if let Err(error) = store.append("solo", &[entry(seq, "a")]).await {
            full = Some((seq, error));
            break;
        }
    }
    let (seq, error) = full.expect("the disk is full at some point");
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
    assert!(
        error.to_string().contains("is full") && error.to_string().contains("free some space"),
        "{error}"
    );
    // What was recorded before is there, and recording goes on when there is room again.
    assert_eq!(
        store.entries("solo", 0).await.expect("read").len(),
        usize::try_from(seq - 1).expect("small")
    );
    store
        .append("solo", &[entry(seq, "a")])
        .await
        .expect("append after making room");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_told_in_words() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.db");
    std::fs::write(
        &path,
        "this is not a database, but long enough to be looked at as one ".repeat(40),
    )
    .expect("write");
    let error = Store::open(&path).await.expect_err("no database");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn a_missing_record_is_told_in_words() {
    let folder = tempfile::tempdir().expect("folder");
    let error = Store::open_read_only(&folder.path().join("none.db"))
        .await
        .expect_err("missing");
    assert!(
        error.to_string().contains("nothing was recorded here yet"),
        "{error}"
    );
}

#[tokio::test]
async fn only_the_owner_may_read_the_file() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("new/a.db");
    let _store = Store::open(&path).await.expect("open");
    let mode =
        |path: &std::path::Path| path.metadata().expect("metadata").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("folder")), 0o700);
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.db");
    Store::open(&path).await.expect("open").close().await;
    let mut connection =
        sqlx::SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(&path))
            .await
            .expect("connect");
    connection
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, installed_on, success, checksum, execution_time)
             VALUES (9999, 'later', '2030-01-01', 1, x'00', 1)",
        )
        .await
        .expect("insert");
    connection.close().await.expect("close");
    let error = Store::open(&path).await.expect_err("newer");
    assert!(error.to_string().contains("newer version"), "{error}");
}
