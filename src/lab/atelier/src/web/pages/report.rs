//! The report of a lab: every criterion with its verdict, points and evidence, and what was answered.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use course::{Lab, Language, Step};

use super::blocks::spoken;
use super::criteria::{self, CriterionItem};
use super::lab::find;
use super::{Points, title};
use crate::web::desk::{Standing, Verdicts};
use crate::web::error::Met;
use crate::web::frame::{Frame, Page, rendered};
use crate::web::state::App;
use crate::web::visitor::Theme;
use crate::web::words::Words;

#[derive(Debug, Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    frame: &'a Frame,
    lab_id: &'a str,
    lab_title: String,
    report: String,
}

#[derive(Debug, Template)]
#[template(path = "fragments/report.html")]
struct ReportFragment<'a> {
    words: &'a Words,
    base: &'a str,
    lab_id: &'a str,
    earned: u32,
    total: u32,
    passed: usize,
    count: usize,
    steps: Vec<StepReport>,
}

#[derive(Debug)]
struct StepReport {
    id: String,
    number: usize,
    title: String,
    earned: u32,
    points: u32,
    criteria: Vec<CriterionItem>,
    answers: Vec<AnswerItem>,
}

#[derive(Debug)]
struct AnswerItem {
    question: String,
    given: String,
    prediction: bool,
}

/// `GET /reports/{lab}`
pub async fn get(
    State(app): State<App>,
    frame: Frame,
    Path(lab): Path<String>,
) -> Result<Response, Met> {
    let lab = find(&app, &lab)?;
    let frame = frame.with_events(&format!("/events?view=report&lab={}", lab.rules.id));
    let verdicts = app.desk().verdicts(&lab.rules.id).borrow().clone();
    let report = html(&app, &frame, &lab, &verdicts);
    let lab_title = title(&lab, &frame.words);
    Ok(Page(ReportPage {
        frame: &frame,
        lab_id: lab.rules.id.as_str(),
        lab_title,
        report,
    })
    .into_response())
}

/// The report as HTML.
#[must_use]
pub fn html(app: &App, frame: &Frame, lab: &Lab, verdicts: &Verdicts) -> String {
    let Points { earned, total } = criteria::lab_points(lab, verdicts);
    let standings = || {
        lab.rules
            .criteria()
            .map(|(_, criterion)| verdicts.standing(criterion.id.as_str()))
    };
    let answers = app.desk().answers(&lab.rules.id);
    let step = |(index, step): (usize, &Step)| {
        let texts = lab.texts(frame.words.language);
        let Points { earned, total } = criteria::points(step, verdicts);
        StepReport {
            id: step.id.to_string(),
            number: index + 1,
            title: texts
                .page(&step.id)
                .map(|page| page.title.clone())
                .unwrap_or_default(),
            earned,
            points: total,
            criteria: criteria::items(step, texts, verdicts),
            answers: step
                .questions
                .iter()
                .filter_map(|question| {
                    let given = spoken(answers.get(question.id.as_str())?);
                    Some(AnswerItem {
                        question: question.id.to_string(),
                        given,
                        prediction: question.prediction,
                    })
                })
                .collect(),
        }
    };
    rendered(&ReportFragment {
        words: &frame.words,
        base: &frame.base,
        lab_id: lab.rules.id.as_str(),
        earned,
        total,
        passed: standings()
            .filter(|standing| *standing == Standing::Passed)
            .count(),
        count: standings().count(),
        steps: lab.rules.steps.iter().enumerate().map(step).collect(),
    })
}
