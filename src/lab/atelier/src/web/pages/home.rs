//! The course at a glance: three days of two half-days, where one stands, and the way back to it.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use course::{Half, Lab, Language};

use super::{Points, criteria, title};
use crate::web::frame::{Frame, Page, rendered};
use crate::web::state::App;
use crate::web::visitor::Theme;
use crate::web::words::Words;

#[derive(Debug, Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    frame: &'a Frame,
    other: Words,
    days: Vec<Day<'a>>,
    resume: Option<Resume>,
    broken: Vec<(String, String)>,
}

#[derive(Debug)]
struct Day<'a> {
    number: u32,
    halves: Vec<HalfDay<'a>>,
}

#[derive(Debug)]
struct HalfDay<'a> {
    key: String,
    when: &'static str,
    title: String,
    other_title: String,
    goals: Vec<String>,
    lab: Option<Written<'a>>,
}

/// A half-day whose lab exists.
#[derive(Debug)]
struct Written<'a> {
    id: &'a str,
    title: String,
    length: String,
    steps: usize,
    points: Points,
    begun: bool,
    invitation: &'static str,
}

impl Written<'_> {
    fn progress(&self, frame: &Frame) -> String {
        progress_html(self.points, &frame.words)
    }
}

#[derive(Debug)]
struct Resume {
    lab: String,
    lab_title: String,
    step: String,
    step_title: String,
    place: String,
}

#[derive(Debug, Template)]
#[template(path = "fragments/progress.html")]
struct ProgressFragment<'a> {
    words: &'a Words,
    earned: u32,
    total: u32,
    percent: u32,
}

/// How far one is, as HTML.
#[must_use]
pub fn progress_html(Points { earned, total }: Points, words: &Words) -> String {
    let percent = (earned * 100).checked_div(total).unwrap_or_default();
    rendered(&ProgressFragment {
        words,
        earned,
        total,
        percent,
    })
}

/// `GET /`
pub async fn get(State(app): State<App>, frame: Frame) -> Response {
    let frame = frame.with_events("/events?view=home");
    let other = Words::of(if frame.words.language == Language::Fr {
        Language::En
    } else {
        Language::Fr
    });
    let days = (1..=3).map(|number| Day {
        number: number.into(),
        halves: [Half::Am, Half::Pm]
            .map(|half| half_day(&app, &frame.words, &other, number, half))
            .into(),
    });
    let broken = app.library().broken.clone();
    let page = HomePage {
        days: days.collect(),
        resume: resume(&app, &frame.words),
        frame: &frame,
        other,
        broken,
    };
    Page(page).into_response()
}

fn half_day<'a>(app: &'a App, words: &Words, other: &Words, day: u8, half: Half) -> HalfDay<'a> {
    let (short, when) = match half {
        Half::Am => ("am", "morning"),
        Half::Pm => ("pm", "afternoon"),
    };
    let key = format!("half-{day}-{short}");
    let lab = app.library().at(day, half);
    let goals = match lab {
        Some(lab) => lab.texts(words.language).goals(),
        None => words
            .t(&format!("{key}-goals"))
            .split(" ; ")
            .map(ToOwned::to_owned)
            .collect(),
    };
    let title = |words: &Words| words.t(&format!("{key}-title"));
    HalfDay {
        when,
        title: title(words),
        other_title: title(other),
        goals,
        lab: lab.map(|lab| written(app, words, lab)),
        key,
    }
}

fn written<'a>(app: &App, words: &Words, lab: &'a Lab) -> Written<'a> {
    let points = criteria::lab_points(lab, &app.desk().verdicts(&lab.rules.id).borrow());
    let begun = app.positions().step(&lab.rules.id).is_some();
    Written {
        id: lab.rules.id.as_str(),
        title: title(lab, words),
        length: length(lab.rules.minutes, words),
        steps: lab.rules.steps.len(),
        points,
        begun,
        invitation: if begun { "continue" } else { "begin" },
    }
}

/// Minutes as hours to the half.
fn length(minutes: u32, words: &Words) -> String {
    let halves = (minutes + 15) / 30;
    let (hours, half) = (halves / 2, halves % 2);
    words.with(
        if half == 0 { "hours" } else { "hours-half" },
        &[("n", hours.into())],
    )
}

fn resume(app: &App, words: &Words) -> Option<Resume> {
    let id = app.positions().lab()?;
    let lab = app.library().lab(id.as_str())?;
    let step = app.positions().step(&id)?;
    let index = lab.rules.steps.iter().position(|known| known.id == step)?;
    Some(Resume {
        lab: id.to_string(),
        lab_title: title(lab, words),
        step_title: lab.texts(words.language).page(&step)?.title.clone(),
        step: step.to_string(),
        place: words.with(
            "step-of",
            &[
                ("n", (index + 1).into()),
                ("of", lab.rules.steps.len().into()),
            ],
        ),
    })
}
