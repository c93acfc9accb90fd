//! The environment: how it is, what its start does, what may be done to it, its logs and its kubeconfig.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use askama::Template;
use axum::Form;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use course::Language;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use serde::Deserialize;

use super::lab::find;
use crate::web::desk::{Act, ChildTrouble, EnvironmentIs, EnvironmentView, PhaseIs};
use crate::web::error::Met;
use crate::web::frame::{Frame, Page, rendered};
use crate::web::state::App;
use crate::web::visitor::Theme;
use crate::web::words::Words;

/// The end of a log that is shown.
const LOG_TAIL: u64 = 512 * 1024;

#[derive(Debug, Template)]
#[template(path = "environment.html")]
struct EnvironmentPage<'a> {
    frame: &'a Frame,
    state: String,
}

#[derive(Debug, Template)]
#[template(path = "fragments/environment.html")]
struct EnvironmentFragment<'a> {
    words: &'a Words,
    base: &'a str,
    token: &'a str,
    view: &'a EnvironmentView,
    explain: &'static str,
    phases: Vec<PhaseItem>,
    acts: Vec<ActItem>,
    logs: Vec<String>,
    has_kubeconfig: bool,
}

#[derive(Debug, Template)]
#[template(path = "fragments/offer.html")]
struct OfferFragment<'a> {
    words: &'a Words,
    base: &'a str,
    token: &'a str,
    lab_id: &'a str,
    back: &'a str,
    view: &'a EnvironmentView,
    act: &'static str,
    title: &'static str,
    text: &'static str,
    button: &'static str,
    phases: Vec<PhaseItem>,
}

#[derive(Debug, Template)]
#[template(path = "fragments/badge.html")]
struct BadgeFragment<'a> {
    frame: &'a Frame,
}

#[derive(Debug)]
struct PhaseItem {
    key: &'static str,
    name: String,
    is: &'static str,
    state: String,
    /// When it began, in milliseconds since 1970, while it runs.
    since: Option<i64>,
}

#[derive(Debug)]
struct ActItem {
    key: &'static str,
    name: &'static str,
    effect: &'static str,
    confirm: &'static str,
    destroys: bool,
    /// What one most likely wants now.
    main: bool,
}

impl EnvironmentIs {
    /// The key of its word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Absent => "environment-absent",
            Self::Starting => "environment-starting",
            Self::Running => "environment-running",
            Self::Stopping => "environment-stopping",
            Self::Stopped => "environment-stopped",
            Self::Deleting => "environment-deleting",
            Self::Broken { .. } => "environment-broken",
        }
    }

    const fn explanation(&self) -> &'static str {
        match self {
            Self::Absent => "environment-absent-text",
            Self::Starting => "environment-starting-text",
            Self::Running => "environment-running-text",
            Self::Stopping => "environment-stopping-text",
            Self::Stopped => "environment-stopped-text",
            Self::Deleting => "environment-deleting-text",
            Self::Broken { .. } => "environment-broken-text",
        }
    }
}

impl From<Act> for ActItem {
    fn from(act: Act) -> Self {
        let (name, effect, confirm) = match act {
            Act::Create => ("act-create", "act-create-effect", "act-create"),
            Act::Start => ("act-start", "act-start-effect", "act-start"),
            Act::Stop => ("act-stop", "act-stop-effect", "act-stop"),
            Act::Reset => ("act-reset", "act-reset-effect", "act-reset-confirm"),
            Act::Delete => ("act-delete", "act-delete-effect", "act-delete-confirm"),
        };
        Self {
            key: act.key(),
            name,
            effect,
            confirm,
            destroys: act.destroys(),
            main: matches!(act, Act::Create | Act::Start),
        }
    }
}

#[expect(clippy::unused_self, reason = "templates call through self")]
impl EnvironmentFragment<'_> {
    const fn trouble_word(&self, child: &ChildTrouble) -> &'static str {
        if child.running_again {
            "child-restarted"
        } else {
            "child-died"
        }
    }
}

/// `GET /environment`
pub async fn get(State(app): State<App>, frame: Frame) -> Response {
    let frame = frame.with_events("/events?view=environment");
    let state = html(&app, &frame, &app.desk().environment().borrow().clone());
    Page(EnvironmentPage {
        frame: &frame,
        state,
    })
    .into_response()
}

/// The page's content as HTML.
#[must_use]
pub fn html(app: &App, frame: &Frame, view: &EnvironmentView) -> String {
    rendered(&EnvironmentFragment {
        words: &frame.words,
        base: &frame.base,
        token: &frame.token,
        view,
        explain: view.is.explanation(),
        phases: phases(view, &frame.words),
        acts: Act::ALL
            .into_iter()
            .filter(|act| act.fits(&view.is))
            .map(ActItem::from)
            .collect(),
        logs: app
            .desk()
            .logs()
            .into_iter()
            .map(|(name, _)| name)
            .collect(),
        has_kubeconfig: app.desk().kubeconfig().is_some(),
    })
}

/// What stands in a terminal's place while there is no environment: the offer to make one, or how far that is.
#[must_use]
pub fn offer_html(view: &EnvironmentView, frame: &Frame, lab_id: &str, back: &str) -> String {
    let (act, title, text, button) = match view.is {
        EnvironmentIs::Absent => (
            Act::Create,
            "offer-create",
            "offer-create-text",
            "act-create",
        ),
        EnvironmentIs::Broken { .. } => {
            (Act::Start, "offer-broken", "offer-broken-text", "act-start")
        }
        EnvironmentIs::Stopped => (Act::Start, "offer-start", "offer-start-text", "act-start"),
        _ => (
            Act::Start,
            view.is.word(),
            view.is.explanation(),
            "act-start",
        ),
    };
    rendered(&OfferFragment {
        words: &frame.words,
        base: &frame.base,
        token: &frame.token,
        lab_id,
        back,
        view,
        act: act.key(),
        title,
        text,
        button,
        phases: phases(view, &frame.words),
    })
}

/// The state in the header as HTML.
#[must_use]
pub fn badge_html(frame: &Frame) -> String {
    rendered(&BadgeFragment { frame })
}

fn phases(view: &EnvironmentView, words: &Words) -> Vec<PhaseItem> {
    let item = |(phase, is): &(clusters::provider::Phase, PhaseIs)| {
        let (key, state, since) = match is {
            PhaseIs::Ahead => ("ahead", words.t("phase-ahead"), None),
            PhaseIs::Started(at) => (
                "started",
                words.t("phase-started"),
                Some(at.as_millisecond()),
            ),
            PhaseIs::Done { seconds } => ("done", words.n("seconds", *seconds), None),
            PhaseIs::Failed => ("failed", words.t("phase-failed"), None),
        };
        PhaseItem {
            key: phase.key(),
            name: format!("phase-{}", phase.key()),
            is: key,
            state,
            since,
        }
    };
    view.phases.iter().map(item).collect()
}

/// What the forms of the page send.
#[derive(Debug, Deserialize)]
pub struct ActForm {
    /// The lab for whose sake the environment is made.
    lab: Option<String>,
    /// Where to go afterwards.
    back: Option<String>,
}

/// `POST /environment/{act}`
pub async fn act(
    State(app): State<App>,
    Path(act): Path<String>,
    Form(ActForm { lab, back }): Form<ActForm>,
) -> Result<Redirect, Met> {
    let act = Act::ALL
        .into_iter()
        .find(|known| known.key() == act)
        .ok_or(Met::NoSuchPage)?;
    let lab = match lab {
        Some(id) => Some(find(&app, &id)?),
        None => app
            .positions()
            .lab()
            .and_then(|id| app.library().lab(id.as_str()))
            .or_else(|| app.library().labs().first())
            .map(std::sync::Arc::clone),
    };
    if !act.fits(&app.desk().environment().borrow().is) {
        return Err(Met::NotNow("error-not-now"));
    }
    if act != Act::Create && act != Act::Start {
        app.terminals().close_all(if act == Act::Stop {
            "environment-stopped"
        } else {
            "environment-reset"
        });
    }
    app.desk().act(act, lab);
    // Only a path of ours: the form could be made to lead elsewhere.
    let back = back.filter(|path| path.starts_with("/labs/") && !path.contains([':', '\\']));
    Ok(Redirect::to(
        &app.path(back.as_deref().unwrap_or("/environment")),
    ))
}

/// `GET /environment/kubeconfig`
pub async fn kubeconfig(State(app): State<App>) -> Result<Response, Met> {
    let text = app
        .desk()
        .kubeconfig()
        .ok_or(Met::NotNow("error-no-environment"))?;
    let headers = [
        (CONTENT_TYPE, "application/yaml; charset=utf-8"),
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"kubeconfig-atelier.yaml\"",
        ),
    ];
    Ok((headers, text).into_response())
}

/// `GET /environment/logs/{name}`: the end of a program's log.
pub async fn log(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Met> {
    let (_, path) = app
        .desk()
        .logs()
        .into_iter()
        .find(|(known, _)| *known == name)
        .ok_or(Met::NoSuchPage)?;
    let text = tokio::task::spawn_blocking(move || tail(&path))
        .await
        .map_err(|error| Met::Internal(error.to_string()))?
        .map_err(|error| Met::Internal(format!("read the log {name}: {error}")))?;
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

fn tail(path: &PathBuf) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(LOG_TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(LOG_TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
