//! The append-only record of each environment.

use crate::{error::StoreError, store::Store};
use jiff::Timestamp;
use timeline::{Entry, What};

impl Store {
    /// Adds entries in one transaction. Their sequence numbers must be new in that environment.
    ///
    /// # Errors
    /// When they could not be written; then none of them was.
    pub async fn append(&self, environment: &str, entries: &[Entry]) -> Result<(), StoreError> {
        self.whole("record entries", async |connection| {
            for entry in entries {
                let what = serde_json::to_string(&entry.what)
                    .map_err(|error| self.row("entries", entry.seq, &error.to_string()))?;
                sqlx::query("INSERT INTO entries (environment, seq, at, what) VALUES (?, ?, ?, ?)")
                    .bind(environment)
                    .bind(signed(entry.seq))
                    .bind(entry.at.as_microsecond())
                    .bind(what)
                    .execute(&mut *connection)
                    .await
                    .map_err(self.failed("record entries"))?;
            }
            Ok(())
        })
        .await
    }

    /// The entries after a sequence number, in order.
    ///
    /// # Errors
    /// When they could not be read.
    pub async fn entries(&self, environment: &str, after: u64) -> Result<Vec<Entry>, StoreError> {
        let rows: Vec<(i64, i64, String)> = sqlx::query_as(
            "SELECT seq, at, what FROM entries WHERE environment = ? AND seq > ? ORDER BY seq",
        )
        .bind(environment)
        .bind(signed(after))
        .fetch_all(&self.readers)
        .await
        .map_err(self.failed("read entries"))?;
        rows.into_iter().map(|row| self.entry(row)).collect()
    }

    /// The given entries, for showing the evidence of a verdict.
    ///
    /// # Errors
    /// When they could not be read.
    pub async fn entries_at(
        &self,
        environment: &str,
        seqs: &[u64],
    ) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        for seq in seqs {
            let row: Option<(i64, i64, String)> = sqlx::query_as(
                "SELECT seq, at, what FROM entries WHERE environment = ? AND seq = ?",
            )
            .bind(environment)
            .bind(signed(*seq))
            .fetch_optional(&self.readers)
            .await
            .map_err(self.failed("read entries"))?;
            entries.extend(row.map(|row| self.entry(row)).transpose()?);
        }
        Ok(entries)
    }

    /// The environments of which something was recorded.
    ///
    /// # Errors
    /// When they could not be read.
    pub async fn recorded(&self) -> Result<Vec<String>, StoreError> {
        sqlx::query_scalar("SELECT DISTINCT environment FROM entries ORDER BY environment")
            .fetch_all(&self.readers)
            .await
            .map_err(self.failed("list records"))
    }

    /// Forgets everything about an environment that is gone for good.
    ///
    /// # Errors
    /// When it could not be written; then nothing is forgotten.
    pub async fn forget(&self, environment: &str) -> Result<(), StoreError> {
        self.whole("forget an environment", async |connection| {
            for statement in [
                "DELETE FROM entries WHERE environment = ?",
                "DELETE FROM verdicts WHERE environment = ?",
            ] {
                let query = sqlx::query(statement).bind(environment);
                query
                    .execute(&mut *connection)
                    .await
                    .map_err(self.failed("forget an environment"))?;
            }
            Ok(())
        })
        .await
    }

    fn entry(&self, (seq, at, what): (i64, i64, String)) -> Result<Entry, StoreError> {
        let wrong = |reason: String| StoreError::Row {
            what: "entries",
            row: seq,
            path: self.path.clone(),
            reason,
        };
        let at = Timestamp::from_microsecond(at).map_err(|error| wrong(error.to_string()))?;
        let what: What = serde_json::from_str(&what).map_err(|error| wrong(error.to_string()))?;
        Ok(Entry {
            seq: u64::try_from(seq).unwrap_or(0),
            at,
            what,
        })
    }

    pub(crate) fn row(&self, what: &'static str, row: u64, reason: &str) -> StoreError {
        StoreError::Row {
            what,
            row: signed(row),
            path: self.path.clone(),
            reason: reason.to_owned(),
        }
    }
}

/// SQLite's integers are signed; sequence numbers never come near the limit.
pub(crate) fn signed(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}
