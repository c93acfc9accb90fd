//! The lab page: lesson and steps, workbench, criteria. Also where answers come in.

use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use course::{Lab, Language, Step, StepId, StepPage};
use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;

use super::blocks::Blocks;
use super::criteria::{self, StepItem};
use super::{board, environment, title};
use crate::web::desk::{AnswerRefusal, EnvironmentIs, Verdicts};
use crate::web::error::Met;
use crate::web::frame::{Frame, Page, rendered};
use crate::web::state::App;
use crate::web::visitor::Theme;

#[derive(Debug, Template)]
#[template(path = "lab.html")]
struct LabPage<'a> {
    frame: &'a Frame,
    lab_id: &'a str,
    lab_title: String,
    base: &'a str,
    words: &'a crate::web::words::Words,
    page: &'a StepPage,
    number: usize,
    total: usize,
    minutes: u32,
    points: u32,
    steps: Vec<StepItem>,
    previous: Option<StepItem>,
    next: Option<StepItem>,
    blocks: String,
    /// Numbers of the open terminals; none while no shell can be had.
    terminals: Option<String>,
    offer: String,
    board: String,
    criteria: String,
}

/// `GET /labs/{lab}`: to the step where one was, or to the first.
pub async fn resume(State(app): State<App>, Path(lab): Path<String>) -> Result<Redirect, Met> {
    let lab = find(&app, &lab)?;
    let kept = app
        .positions()
        .step(&lab.rules.id)
        .filter(|step| lab.rules.step(step).is_some());
    let first = || lab.rules.steps.first().map(|step| step.id.clone());
    let step = kept.or_else(first).ok_or(Met::NoSuchPage)?;
    Ok(Redirect::to(
        &app.path(&format!("/labs/{}/{step}", lab.rules.id)),
    ))
}

/// `GET /labs/{lab}/{step}`
pub async fn get(
    State(app): State<App>,
    frame: Frame,
    Path((lab, step)): Path<(String, String)>,
) -> Result<Response, Met> {
    let lab = find(&app, &lab)?;
    let step = find_step(&lab, &step)?;
    app.positions()
        .set(&lab.rules.id, &step.id, frame.now)
        .await;
    let frame = frame.with_events(&format!(
        "/events?view=lab&lab={}&step={}",
        lab.rules.id, step.id
    ));
    let verdicts = app.desk().verdicts(&lab.rules.id).borrow().clone();
    Ok(Page(page(&app, &frame, &lab, step, &verdicts)?).into_response())
}

fn page<'a>(
    app: &App,
    frame: &'a Frame,
    lab: &'a Arc<Lab>,
    step: &Step,
    verdicts: &Verdicts,
) -> Result<LabPage<'a>, Met> {
    let texts = lab.texts(frame.words.language);
    let page = texts.page(&step.id).ok_or(Met::NoSuchPage)?;
    let steps = criteria::steps(lab, Some(&step.id), &frame.words, verdicts);
    let at = steps
        .iter()
        .position(|item| item.current)
        .unwrap_or_default();
    let lab_id = lab.rules.id.as_str();
    let answers = app.desk().answers(&lab.rules.id);
    let blocks = Blocks {
        words: &frame.words,
        lab_id,
        blocks: &page.blocks,
        answers: &answers,
    };
    let view = app.desk().environment().borrow().clone();
    let back = format!("/labs/{lab_id}/{}", step.id);
    Ok(LabPage {
        lab_id,
        lab_title: title(lab, &frame.words),
        base: &frame.base,
        words: &frame.words,
        page,
        number: at + 1,
        total: steps.len(),
        minutes: step.minutes,
        points: step.points(),
        previous: at
            .checked_sub(1)
            .and_then(|before| steps.get(before))
            .cloned(),
        next: steps.get(at + 1).cloned(),
        steps,
        blocks: rendered(&blocks),
        terminals: (view.is == EnvironmentIs::Running).then(|| open_terminals(app)),
        offer: environment::offer_html(&view, frame, lab_id, &back),
        board: board::html(&app.desk().board().borrow(), &frame.words),
        criteria: criteria::criteria_html(step, texts, &frame.words, verdicts),
        frame,
    })
}

fn open_terminals(app: &App) -> String {
    let numbers: Vec<String> = app
        .terminals()
        .tabs()
        .iter()
        .map(|tab| tab.number.to_string())
        .collect();
    numbers.join(",")
}

/// What a page sends as an answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answering {
    question: String,
    value: Value,
}

/// `POST /labs/{lab}/answers`
pub async fn answer(
    State(app): State<App>,
    frame: Frame,
    Path(lab): Path<String>,
    Json(Answering { question, value }): Json<Answering>,
) -> Result<Response, Met> {
    let lab = find(&app, &lab)?;
    lab.rules.question(&question).ok_or(Met::NoSuchPage)?;
    match app.desk().answer(&lab.rules.id, &question, value).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT.into_response()),
        Err(AnswerRefusal::NoEnvironment) => {
            let message = frame.t("answer-no-environment");
            Ok((
                StatusCode::CONFLICT,
                Json(serde_json::json!({ "message": message })),
            )
                .into_response())
        }
        Err(AnswerRefusal::Unfit(expected)) => {
            Err(Met::Unreadable(format!("an answer was not {expected}")))
        }
        Err(AnswerRefusal::Failed(reason)) => Err(Met::Internal(reason)),
    }
}

pub(crate) fn find(app: &App, id: &str) -> Result<Arc<Lab>, Met> {
    app.library().lab(id).map(Arc::clone).ok_or(Met::NoSuchPage)
}

pub(crate) fn find_step<'a>(lab: &'a Lab, id: &str) -> Result<&'a Step, Met> {
    StepId::new(id)
        .and_then(|id| lab.rules.step(&id))
        .ok_or(Met::NoSuchPage)
}
