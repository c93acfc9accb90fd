//! The log of verdicts as they changed.

use crate::{error::StoreError, record::signed, store::Store};
use jiff::Timestamp;
use serde_json::Value;
use timeline::Verdict;

/// A change of a verdict, as it was logged.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedVerdict {
    pub criterion: String,
    pub state: String,
    pub at: Timestamp,
    pub seq: u64,
    /// The whole verdict with its evidence.
    pub verdict: Value,
}

impl Store {
    /// Adds verdicts that have changed.
    ///
    /// # Errors
    /// When they could not be written.
    pub async fn log_verdicts(
        &self,
        environment: &str,
        lab: &str,
        (seq, at): (u64, Timestamp),
        changed: &[Verdict],
    ) -> Result<(), StoreError> {
        self.whole("log verdicts", async |connection| {
            for verdict in changed {
                let json =
                    serde_json::to_string(verdict).map_err(|error| self.row("verdicts", seq, &error.to_string()))?;
                sqlx::query(
                    "INSERT INTO verdicts (environment, lab, criterion, seq, at, state, verdict) VALUES (?, ?, ?, ?, ?, ?, ?)",
                )
                .bind(environment)
                .bind(lab)
                .bind(verdict.criterion.as_str())
                .bind(signed(seq))
                .bind(at.as_microsecond())
                .bind(verdict.state.key())
                .bind(json)
                .execute(&mut *connection)
                .await
                .map_err(self.failed("log verdicts"))?;
            }
            Ok(())
        })
        .await
    }

    /// Every change of a lab's verdicts, oldest first.
    ///
    /// # Errors
    /// When they could not be read.
    pub async fn verdict_log(
        &self,
        environment: &str,
        lab: &str,
    ) -> Result<Vec<LoggedVerdict>, StoreError> {
        let rows: Vec<(String, String, i64, i64, String)> = sqlx::query_as(
            "SELECT criterion, state, at, seq, verdict FROM verdicts WHERE environment = ? AND lab = ? ORDER BY rowid",
        )
        .bind(environment)
        .bind(lab)
        .fetch_all(&self.readers)
        .await
        .map_err(self.failed("read verdicts"))?;
        rows.into_iter()
            .map(|(criterion, state, at, seq, verdict)| {
                let seq = u64::try_from(seq).unwrap_or(0);
                let at = Timestamp::from_microsecond(at)
                    .map_err(|error| self.row("verdicts", seq, &error.to_string()))?;
                let verdict = serde_json::from_str(&verdict)
                    .map_err(|error| self.row("verdicts", seq, &error.to_string()))?;
                Ok(LoggedVerdict {
                    criterion,
                    state,
                    at,
                    seq,
                    verdict,
                })
            })
            .collect()
    }
}
