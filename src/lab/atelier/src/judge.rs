//! The record → verdicts, as they come. Sleeps until an entry arrives or until time alone can change something, never polls;
//! what time alone changes is written down as a tick, so that the record alone gives the same verdicts later.

pub mod bench;
pub mod setup;
pub mod shelf;
#[cfg(test)]
mod tests;

use crate::{
    options::Options,
    recorder::{Health, LiveView, Recorder, RecorderError, RecorderOptions},
};
use clusters::provider::Environment;
use course::{Lab, LabRules, QuestionId, QuestionKind};
use std::sync::Arc;
use store::Store;
use timeline::{LabVerdicts, Verdict};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    #[error("lab {lab} has no question {question}")]
    UnknownQuestion { lab: String, question: String },
    #[error("{value} is not an answer to {question}: expected {expected}")]
    BadAnswer {
        question: String,
        value: String,
        expected: String,
    },
}

/// The database of the platform, below its data folder.
#[must_use]
pub fn database(options: &Options) -> std::path::PathBuf {
    options.data_dir().join("atelier.db")
}

/// A recorder and the verdicts of one lab over it. Clones are the same session; it ends when its token is cancelled.
#[derive(Debug, Clone)]
pub struct Session {
    lab: Arc<LabRules>,
    recorder: Recorder,
    verdicts: watch::Receiver<Arc<LabVerdicts>>,
}

/// Records an environment and judges a lab in it.
///
/// # Errors
/// When the record or the kubeconfig of the environment cannot be read.
pub async fn start(
    store: &Store,
    environment: &Environment,
    lab: &Lab,
    cancel: CancellationToken,
) -> Result<Session, JudgeError> {
    let options = RecorderOptions {
        store: store.clone(),
        environment: environment.id.to_string(),
        kubeconfig: environment.admin_kubeconfig.clone(),
    };
    let recorder = Recorder::start(options, cancel.clone()).await?;
    Ok(over(recorder, store, Arc::new(lab.rules.clone()), cancel))
}

/// Judges a lab over a recorder that runs already; several labs may share one.
#[must_use]
pub fn over(
    recorder: Recorder,
    store: &Store,
    lab: Arc<LabRules>,
    cancel: CancellationToken,
) -> Session {
    let mut judge = timeline::Judge::new(Arc::clone(&lab));
    let history = recorder.timeline();
    let first = {
        let timeline = history.read();
        let now = timeline.last_at().unwrap_or_else(|| recorder.now());
        judge.verdict(&timeline, now)
    };
    let (sender, verdicts) = watch::channel(Arc::new(first));
    let bench = Bench {
        judge,
        recorder: recorder.clone(),
        store: store.clone(),
        sender,
    };
    tokio::spawn(async move {
        tokio::select! {
            () = cancel.cancelled() => {}
            () = bench.sit() => {}
        }
    });
    Session {
        lab,
        recorder,
        verdicts,
    }
}

impl Session {
    /// Queues, workloads and nodes, as they change.
    #[must_use]
    pub fn live(&self) -> watch::Receiver<Arc<LiveView>> {
        self.recorder.live()
    }

    /// The lab's verdicts, as they change.
    #[must_use]
    pub fn verdicts(&self) -> watch::Receiver<Arc<LabVerdicts>> {
        self.verdicts.clone()
    }

    /// How the recording goes.
    #[must_use]
    pub fn health(&self) -> watch::Receiver<Health> {
        self.recorder.health()
    }

    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    #[must_use]
    pub fn lab(&self) -> &Arc<LabRules> {
        &self.lab
    }

    /// The trainee's latest answer to each question of the lab.
    #[must_use]
    pub fn answers(&self) -> std::collections::BTreeMap<QuestionId, serde_json::Value> {
        let history = self.recorder.timeline();
        let timeline = history.read();
        let questions = self.lab.steps.iter().flat_map(|step| &step.questions);
        questions
            .filter_map(|question| {
                let latest = timeline.answers(&question.id).last()?;
                Some((question.id.clone(), latest.value.clone()))
            })
            .collect()
    }

    /// Gives an answer: checked for its kind, written into the record, judged like everything else.
    ///
    /// # Errors
    /// When there is no such question, when the value cannot be an answer to it, or when the recorder has stopped.
    pub async fn answer(
        &self,
        question: &str,
        value: serde_json::Value,
    ) -> Result<u64, JudgeError> {
        let Some(found) = self.lab.question(question) else {
            let lab = self.lab.id.to_string();
            return Err(JudgeError::UnknownQuestion {
                lab,
                question: question.to_owned(),
            });
        };
        let value =
            fitting(&found.kind, value).map_err(|(value, expected)| JudgeError::BadAnswer {
                question: question.to_owned(),
                value,
                expected,
            })?;
        Ok(self.recorder.answer(found.id.clone(), value).await?)
    }
}

/// Longer answers are cut off here: nobody types that much, and the record keeps them for ever.
const LONGEST_ANSWER: usize = 500;

/// The value in the question's own form, or the value as written and what was expected.
fn fitting(
    kind: &QuestionKind,
    value: serde_json::Value,
) -> Result<serde_json::Value, (String, String)> {
    use serde_json::Value;
    let written = match &value {
        Value::String(text) => text.trim().chars().take(LONGEST_ANSWER).collect::<String>(),
        other => other.to_string(),
    };
    let refuse = |expected: String| Err((written.clone(), expected));
    match kind {
        QuestionKind::Text if value.is_string() && !written.is_empty() => Ok(written.into()),
        QuestionKind::Text => refuse("a text".to_owned()),
        QuestionKind::Number => match written.replace(',', ".").parse::<f64>() {
            Ok(number) if number.is_finite() => {
                Ok(serde_json::from_str(&written.replace(',', ".")).unwrap_or(written.into()))
            }
            _ => refuse("a number".to_owned()),
        },
        QuestionKind::Choice(choices) if choices.contains(&written) => Ok(written.into()),
        QuestionKind::Choice(choices) => refuse(format!("one of {}", choices.join(", "))),
        QuestionKind::Choices(choices) => {
            let chosen: Vec<String> = match value {
                Value::Array(items) => items
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
                _ => vec![written.clone()],
            };
            if chosen.iter().all(|choice| choices.contains(choice)) {
                Ok(chosen.into())
            } else {
                refuse(format!("some of {}", choices.join(", ")))
            }
        }
    }
}

/// Where judging happens.
struct Bench {
    judge: timeline::Judge,
    recorder: Recorder,
    store: Store,
    sender: watch::Sender<Arc<LabVerdicts>>,
}

impl Bench {
    async fn sit(mut self) {
        let mut changed = self.recorder.changed();
        let history = self.recorder.timeline();
        loop {
            changed.borrow_and_update();
            let (verdicts, at) = {
                let timeline = history.read();
                let at = timeline.last_at().unwrap_or_else(|| self.recorder.now());
                (self.judge.verdict(&timeline, at), at)
            };
            let next = verdicts.next;
            self.publish(verdicts, at).await;
            let woken = match next {
                None => changed.changed().await.map(|()| true),
                Some(instant) => {
                    tokio::select! {
                        more = changed.changed() => more.map(|()| true),
                        () = tokio::time::sleep(self.recorder.until(instant)) => Ok(false),
                    }
                }
            };
            match woken {
                Ok(true) => {}
                Ok(false) => {
                    // The tick comes back as an entry, at or after the awaited instant.
                    if self.recorder.tick().await.is_err() || changed.changed().await.is_err() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    async fn publish(&self, verdicts: LabVerdicts, at: jiff::Timestamp) {
        let changed: Vec<Verdict> = {
            let shown = self.sender.borrow();
            let differs = |verdict: &&Verdict| {
                let before = shown.verdict(verdict.criterion.as_str());
                before
                    .is_none_or(|before| before.state != verdict.state || before.say != verdict.say)
            };
            verdicts.all().filter(differs).cloned().collect()
        };
        let (lab, seq) = (verdicts.lab.to_string(), verdicts.seq);
        self.sender.send_replace(Arc::new(verdicts));
        if changed.is_empty() {
            return;
        }
        for verdict in &changed {
            tracing::info!(lab, criterion = %verdict.criterion, state = verdict.state.key(), reason = verdict.reason, "verdict");
        }
        let environment = self.recorder.environment();
        if let Err(error) = self
            .store
            .log_verdicts(environment, &lab, (seq, at), &changed)
            .await
        {
            tracing::warn!(%error, "verdicts are shown, but their log misses some");
        }
    }
}
