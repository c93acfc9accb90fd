//! Playing: the script runs where a trainee's shell does, its requests are answered, and at the end the verdicts are compared with the expected ones.

use super::{
    Piece,
    script::{Line, Lines, Request, whole},
};
use crate::{environments::shell::Shell, grade::report, judge::Session};
use anyhow::{Context, bail};
use course::{Expectation, ExpectedState, Language};
use exec::{Cmd, Pty, PtyOutput, PtySize};
use std::{collections::BTreeSet, io::Write as _, time::Duration};
use timeline::{LabVerdicts, State};
use tokio_util::sync::CancellationToken;

/// How long verdicts may still come after a solution's script has ended.
const SETTLE: Duration = Duration::from_secs(60);
/// A script that runs longer is stopped.
const LONGEST: Duration = Duration::from_secs(20 * 60);
/// Lines of output shown when something went wrong.
const TAIL: usize = 40;

/// Prints a line. Nobody reading is no reason to stop.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Plays the piece; whether the verdicts are the expected ones.
pub(super) async fn play(
    piece: &Piece,
    session: &Session,
    shell: &Shell,
    cancel: &CancellationToken,
) -> anyhow::Result<bool> {
    let command = shell.wrap(&["/bin/bash", "-c", &whole(&piece.script)], true)?;
    let done = perform(piece, session, &command.cmd, cancel).await;
    command.end().await;
    done
}

async fn perform(
    piece: &Piece,
    session: &Session,
    command: &Cmd,
    cancel: &CancellationToken,
) -> anyhow::Result<bool> {
    let (pty, output) = Pty::spawn(
        command,
        PtySize {
            rows: 40,
            cols: 160,
        },
    )
    .context("start the script")?;
    let mut stage = Stage {
        piece,
        session,
        pty: pty.clone(),
        given: BTreeSet::new(),
        tail: Vec::new(),
    };
    let ended = tokio::select! {
        ended = stage.listen(output) => ended,
        () = refused_at_once(piece, session) => Ok(()),
        () = tokio::time::sleep(LONGEST) => Err(anyhow::anyhow!("the script ran longer than {} minutes", LONGEST.as_secs() / 60)),
        () = cancel.cancelled() => Err(anyhow::anyhow!("interrupted")),
    };
    if let Err(error) = ended {
        pty.kill();
        stage.show_tail();
        return Err(error);
    }
    stage.remaining_answers().await?;
    let done = tokio::select! {
        done = settle(piece, session) => done,
        () = cancel.cancelled() => bail!("interrupted"),
    };
    pty.kill();
    let verdicts = session.verdicts().borrow().clone();
    if !done {
        stage.show_tail();
    }
    say(&report::text(&piece.lab, &verdicts, Language::Fr));
    conclude(piece, &verdicts, done);
    Ok(done)
}

struct Stage<'a> {
    piece: &'a Piece,
    session: &'a Session,
    pty: Pty,
    given: BTreeSet<String>,
    tail: Vec<String>,
}

impl Stage<'_> {
    /// Answers the script's requests until it ends.
    async fn listen(&mut self, mut output: PtyOutput) -> anyhow::Result<()> {
        let mut lines = Lines::default();
        while let Some(bytes) = output.read().await {
            for line in lines.push(&bytes) {
                match line {
                    Line::Printed(text) => self.printed(text),
                    Line::Nonsense(request) => bail!("the script asks for nonsense: {request}"),
                    Line::Asked(request) => {
                        let told = if self.request(request).await? {
                            "yes\n"
                        } else {
                            "no\n"
                        };
                        self.pty
                            .write(told.as_bytes())
                            .await
                            .context("answer the script")?;
                    }
                }
            }
        }
        let status = self.pty.wait().await.context("wait for the script")?;
        if !status.success() {
            self.printed(format!("(the script ended with {status})"));
        }
        Ok(())
    }

    fn printed(&mut self, text: String) {
        if self.piece.verbose {
            say(&text);
        }
        self.tail.push(text);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
    }

    fn show_tail(&self) {
        if !self.piece.verbose {
            say("the script's last lines:");
            self.tail.iter().for_each(|line| say(&format!("  {line}")));
        }
    }

    async fn request(&mut self, request: Request) -> anyhow::Result<bool> {
        match request {
            Request::Answer { question, value } => {
                let prepared = self.piece.answers.0.get(&question).cloned();
                let Some(value) = value.map(serde_json::Value::from).or(prepared) else {
                    bail!(
                        "the script answers {question} without a value, and answers.yaml has none"
                    );
                };
                self.session.answer(&question, value).await?;
                self.given.insert(question);
                Ok(true)
            }
            Request::Await { criterion, seconds } => {
                if self.session.lab().criterion(&criterion).is_none() {
                    bail!("the script waits for {criterion}, which is no criterion of the lab");
                }
                let passed = self.passes(&criterion, Duration::from_secs(seconds)).await;
                if !passed {
                    let told = self
                        .session
                        .verdicts()
                        .borrow()
                        .verdict(&criterion)
                        .map(|verdict| format!("{} {}", verdict.state.key(), verdict.reason));
                    self.printed(format!(
                        "({criterion} did not pass within {seconds} s: {})",
                        told.unwrap_or_default()
                    ));
                }
                Ok(passed)
            }
        }
    }

    async fn passes(&self, criterion: &str, within: Duration) -> bool {
        let mut verdicts = self.session.verdicts();
        let passed = verdicts.wait_for(|verdicts| {
            verdicts
                .verdict(criterion)
                .is_some_and(|verdict| verdict.state == State::Passed)
        });
        matches!(tokio::time::timeout(within, passed).await, Ok(Ok(_)))
    }

    /// Answers of `answers.yaml` that the script did not give itself.
    async fn remaining_answers(&self) -> anyhow::Result<()> {
        for (question, value) in &self.piece.answers.0 {
            if !self.given.contains(question) {
                self.session.answer(question, value.clone()).await?;
            }
        }
        Ok(())
    }
}

/// A wrong answer that is already refused need not be played to its end.
async fn refused_at_once(piece: &Piece, session: &Session) {
    match piece
        .expectation
        .as_ref()
        .filter(|expectation| expectation.state != ExpectedState::Waiting)
    {
        Some(expectation) => {
            let mut verdicts = session.verdicts();
            if verdicts
                .wait_for(|verdicts| stands(expectation, verdicts))
                .await
                .is_err()
            {
                std::future::pending::<()>().await;
            }
        }
        None => std::future::pending().await,
    }
}

/// Waits for what must come, or watches that what must not come does not.
async fn settle(piece: &Piece, session: &Session) -> bool {
    let mut verdicts = session.verdicts();
    match &piece.expectation {
        None => {
            let full = verdicts.wait_for(|verdicts| verdicts.full_marks());
            matches!(tokio::time::timeout(SETTLE, full).await, Ok(Ok(_)))
        }
        Some(expectation) if expectation.state == ExpectedState::Waiting => {
            let passed =
                verdicts.wait_for(|verdicts| state(expectation, verdicts) == Some(State::Passed));
            let never = tokio::time::timeout(expectation.settle, passed)
                .await
                .is_err();
            never && stands(expectation, &session.verdicts().borrow())
        }
        Some(expectation) => {
            let refused = verdicts.wait_for(|verdicts| stands(expectation, verdicts));
            matches!(
                tokio::time::timeout(expectation.settle, refused).await,
                Ok(Ok(_))
            )
        }
    }
}

fn state(expectation: &Expectation, verdicts: &LabVerdicts) -> Option<State> {
    verdicts
        .verdict(&expectation.breaks)
        .map(|verdict| verdict.state)
}

/// Whether the expected criterion is refused as expected.
fn stands(expectation: &Expectation, verdicts: &LabVerdicts) -> bool {
    let Some(verdict) = verdicts.verdict(&expectation.breaks) else {
        return false;
    };
    let state = match expectation.state {
        ExpectedState::Failed => verdict.state == State::Failed,
        ExpectedState::Waiting => matches!(verdict.state, State::Waiting | State::Pending),
        ExpectedState::NotJudged => verdict.state == State::NotJudged,
    };
    let reason = expectation
        .reason
        .as_deref()
        .is_none_or(|reason| reason == verdict.reason);
    let says = expectation
        .says
        .as_ref()
        .is_none_or(|says| verdict.say.as_ref() == Some(says));
    state && reason && says
}

fn conclude(piece: &Piece, verdicts: &LabVerdicts, done: bool) {
    let line = match (&piece.expectation, done) {
        (None, true) => "the solution gets full marks".to_owned(),
        (None, false) => format!(
            "the solution gets {} of {} points",
            verdicts.earned, verdicts.points
        ),
        (Some(expectation), true) => format!("refused at {}, as expected", expectation.breaks),
        (Some(expectation), false) => {
            let found = verdicts.verdict(&expectation.breaks);
            let found =
                found.map(|verdict| format!("{} ({})", verdict.state.key(), verdict.reason));
            format!(
                "expected {} to be {:?}, found {}",
                expectation.breaks,
                expectation.state,
                found.unwrap_or_default()
            )
        }
    };
    say(&line);
}
