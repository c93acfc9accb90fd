//! Where each trainee is, and in which language.

use crate::{error::StoreError, store::Store};
use course::{LabId, Language, StepId};
use jiff::Timestamp;

impl Store {
    /// Remembers the step a trainee looks at.
    ///
    /// # Errors
    /// When it could not be written.
    pub async fn set_step(
        &self,
        trainee: &str,
        lab: &LabId,
        step: &StepId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO progress (trainee, lab, step, at) VALUES (?, ?, ?, ?)
             ON CONFLICT (trainee, lab) DO UPDATE SET step = excluded.step, at = excluded.at",
        )
        .bind(trainee)
        .bind(lab.as_str())
        .bind(step.as_str())
        .bind(at.as_microsecond())
        .execute(&self.writer)
        .await
        .map_err(self.failed("remember the step"))?;
        Ok(())
    }

    /// The step that a trainee looked at last in that lab.
    ///
    /// # Errors
    /// When it could not be read.
    pub async fn step(&self, trainee: &str, lab: &LabId) -> Result<Option<StepId>, StoreError> {
        let step: Option<String> =
            sqlx::query_scalar("SELECT step FROM progress WHERE trainee = ? AND lab = ?")
                .bind(trainee)
                .bind(lab.as_str())
                .fetch_optional(&self.readers)
                .await
                .map_err(self.failed("read the step"))?;
        Ok(step.and_then(|step| StepId::new(&step)))
    }

    /// The lab and step that a trainee looked at last of all: where "Reprendre" leads.
    ///
    /// # Errors
    /// When it could not be read.
    pub async fn latest(&self, trainee: &str) -> Result<Option<(LabId, StepId)>, StoreError> {
        let row: Option<(String, String)> = sqlx::query_as(
            "SELECT lab, step FROM progress WHERE trainee = ? ORDER BY at DESC LIMIT 1",
        )
        .bind(trainee)
        .fetch_optional(&self.readers)
        .await
        .map_err(self.failed("read the step"))?;
        Ok(row.and_then(|(lab, step)| Some((LabId::new(&lab)?, StepId::new(&step)?))))
    }

    /// # Errors
    /// When it could not be written.
    pub async fn set_language(&self, trainee: &str, language: Language) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO preferences (trainee, language) VALUES (?, ?)
             ON CONFLICT (trainee) DO UPDATE SET language = excluded.language",
        )
        .bind(trainee)
        .bind(language.code())
        .execute(&self.writer)
        .await
        .map_err(self.failed("remember the language"))?;
        Ok(())
    }

    /// The language that a trainee chose, if they did.
    ///
    /// # Errors
    /// When it could not be read.
    pub async fn language(&self, trainee: &str) -> Result<Option<Language>, StoreError> {
        let code: Option<String> =
            sqlx::query_scalar("SELECT language FROM preferences WHERE trainee = ?")
                .bind(trainee)
                .fetch_optional(&self.readers)
                .await
                .map_err(self.failed("read the language"))?;
        Ok(code.and_then(|code| Language::from_code(&code)))
    }
}
