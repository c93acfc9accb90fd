//! What can go wrong, in words that say what to do.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot open the database {path}: {reason}")]
    Open { path: PathBuf, reason: String },
    #[error("cannot bring the database {path} up to date: {reason}")]
    Migrate { path: PathBuf, reason: String },
    #[error(
        "the disk that holds {path} is full: nothing more is recorded until there is room again; free some space"
    )]
    DiskFull { path: PathBuf },
    #[error("the database {path} can only be read: check the rights of the file and its folder")]
    ReadOnly { path: PathBuf },
    #[error(
        "the database {path} is damaged ({reason}): move it away, keep it for inspection, and start again"
    )]
    Damaged { path: PathBuf, reason: String },
    #[error("{act} in the database {path}: {reason}")]
    Failed {
        act: &'static str,
        path: PathBuf,
        reason: String,
    },
    #[error("row {row} of {what} in the database {path} cannot be read: {reason}")]
    Row {
        what: &'static str,
        row: i64,
        path: PathBuf,
        reason: String,
    },
}

/// Primary result codes of SQLite; extended ones carry them in the low byte.
const FULL: i32 = 13;
const READ_ONLY: i32 = 8;
const IO_ERROR: i32 = 10;
const CORRUPT: i32 = 11;
const NOT_A_DATABASE: i32 = 26;

impl StoreError {
    pub(crate) fn from_sql(act: &'static str, path: &std::path::Path, error: &sqlx::Error) -> Self {
        let path = path.to_owned();
        let code = error
            .as_database_error()
            .and_then(|error| error.code())
            .and_then(|code| code.parse::<i32>().ok())
            .map(|code| code & 0xff);
        let reason = error
            .as_database_error()
            .map_or_else(|| error.to_string(), |error| error.message().to_owned());
        match code {
            Some(FULL) => Self::DiskFull { path },
            Some(READ_ONLY) => Self::ReadOnly { path },
            Some(CORRUPT | NOT_A_DATABASE) => Self::Damaged { path, reason },
            // On a full disk the write-ahead log fails with an I/O error of its own.
            Some(IO_ERROR) if reason.contains("disk I/O") => {
                let reason = format!("{reason} (is the disk full or gone?)");
                Self::Failed { act, path, reason }
            }
            _ => Self::Failed { act, path, reason },
        }
    }
}
