//! The open database: one connection that writes, a few that read.

use crate::error::StoreError;
use sqlx::{
    Connection as _, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use std::{
    fs,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

/// How long a writer waits for another process to finish its write.
const PATIENCE: Duration = Duration::from_secs(10);

/// The platform's memory. Clones share the connections.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) path: PathBuf,
    pub(crate) writer: SqlitePool,
    pub(crate) readers: SqlitePool,
}

impl Store {
    /// Opens the database at `path`, creating it (readable by its owner alone) and bringing it up to date.
    ///
    /// # Errors
    /// When the file cannot be created, opened or migrated.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        create(path).map_err(|error| StoreError::Open {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let options = options(path);
        let writer = connect(path, options.clone(), 1).await?;
        crate::MIGRATOR
            .run(&writer)
            .await
            .map_err(|error| migration(path, &error))?;
        let readers = connect(path, options.read_only(true), 3).await?;
        Ok(Self {
            path: path.to_owned(),
            writer,
            readers,
        })
    }

    /// Opens an existing database for reading only, while another process may write.
    ///
    /// # Errors
    /// When there is none, or it cannot be opened.
    pub async fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            let reason = "it does not exist: nothing was recorded here yet".to_owned();
            return Err(StoreError::Open {
                path: path.to_owned(),
                reason,
            });
        }
        let readers = connect(
            path,
            options(path).create_if_missing(false).read_only(true),
            2,
        )
        .await?;
        Ok(Self {
            path: path.to_owned(),
            writer: readers.clone(),
            readers,
        })
    }

    /// Writes what is pending and closes the connections.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Writes all of `work` or nothing. After a failure the connection is thrown away: SQLite ends a transaction by itself
    /// when the disk is full, and the driver would not know.
    pub(crate) async fn whole(
        &self,
        act: &'static str,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let failed = self.failed(act);
        let mut connection = self.writer.acquire().await.map_err(&failed)?;
        let done = {
            // Rolled back when this future is dropped half-way.
            let mut transaction = connection
                .begin_with("BEGIN IMMEDIATE")
                .await
                .map_err(&failed)?;
            match work(&mut transaction).await {
                Ok(()) => transaction.commit().await.map_err(&failed),
                Err(error) => Err(error),
            }
        };
        if done.is_err() {
            connection.close_on_drop();
        }
        done
    }

    /// Lets the file grow to so many pages and no further: a small disk, also for trying out a full one.
    ///
    /// # Errors
    /// When the limit could not be set.
    pub async fn limit_pages(&self, most: u32) -> Result<(), StoreError> {
        let statement = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {most}"));
        sqlx::raw_sql(statement)
            .execute(&self.writer)
            .await
            .map_err(self.failed("limit the size"))?;
        Ok(())
    }

    pub(crate) fn failed(&self, act: &'static str) -> impl Fn(sqlx::Error) -> StoreError + '_ {
        move |error| StoreError::from_sql(act, &self.path, &error)
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(PATIENCE)
        .foreign_keys(true)
}

async fn connect(
    path: &Path,
    options: SqliteConnectOptions,
    most: u32,
) -> Result<SqlitePool, StoreError> {
    SqlitePoolOptions::new()
        .max_connections(most)
        .acquire_timeout(PATIENCE)
        .connect_with(options)
        .await
        .map_err(|error| StoreError::from_sql("open", path, &error))
}

/// The folder (0700) and the empty file (0600), so that SQLite never creates them with the umask's rights.
fn create(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)?;
    Ok(())
}

fn migration(path: &Path, error: &sqlx::migrate::MigrateError) -> StoreError {
    match error {
        sqlx::migrate::MigrateError::Execute(inner) => {
            match StoreError::from_sql("migrate", path, inner) {
                StoreError::Failed { reason, .. } => StoreError::Migrate {
                    path: path.to_owned(),
                    reason,
                },
                other => other,
            }
        }
        sqlx::migrate::MigrateError::VersionMissing(version) => {
            let reason =
                format!("it was written by a newer version of the platform (step {version})");
            StoreError::Migrate {
                path: path.to_owned(),
                reason,
            }
        }
        other => StoreError::Migrate {
            path: path.to_owned(),
            reason: other.to_string(),
        },
    }
}
