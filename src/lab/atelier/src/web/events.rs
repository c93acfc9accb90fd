//! Live updates: one stream a page, of the page's own pieces as they change, and of sentences to announce.
//!
//! Every connection begins with all pieces as they are, so that nothing is missed however long it was gone.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use course::{Lab, StepId};
use futures::Stream;
use http::HeaderName;
use serde::Deserialize;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use super::desk::{BoardView, EnvironmentIs, EnvironmentView, Standing, Verdicts};
use super::error::Met;
use super::frame::Frame;
use super::pages::lab::{find, find_step};
use super::pages::{board, criteria, environment, home, report};
use super::state::App;

/// Proxies cut what is silent for a minute, and browsers notice a dead stream only when something fails.
const HEARTBEAT: Duration = Duration::from_secs(15);
const BUFFERED: usize = 16;

/// Which page wants to know.
#[derive(Debug, Deserialize)]
pub struct Wanted {
    view: String,
    lab: Option<String>,
    step: Option<String>,
}

/// What is being looked at.
#[derive(Debug, Clone)]
enum View {
    Home,
    Environment,
    Lab(Arc<Lab>, StepId),
    Report(Arc<Lab>),
}

/// `GET /events`
pub async fn get(
    State(app): State<App>,
    frame: Frame,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Met> {
    let view = view(&app, &wanted)?;
    let keep_alive = KeepAlive::new().interval(HEARTBEAT);
    let mut response = Sse::new(stream(app, frame, view))
        .keep_alive(keep_alive)
        .into_response();
    // nginx would otherwise hold events back until its buffer is full.
    let unbuffered = http::HeaderValue::from_static("no");
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), unbuffered);
    Ok(response)
}

fn view(app: &App, wanted: &Wanted) -> Result<View, Met> {
    let lab = || find(app, wanted.lab.as_deref().unwrap_or_default());
    match wanted.view.as_str() {
        "home" => Ok(View::Home),
        "environment" => Ok(View::Environment),
        "report" => Ok(View::Report(lab()?)),
        "lab" => {
            let lab = lab()?;
            let step = find_step(&lab, wanted.step.as_deref().unwrap_or_default())?
                .id
                .clone();
            Ok(View::Lab(lab, step))
        }
        _ => Err(Met::NoSuchPage),
    }
}

fn stream(app: App, frame: Frame, view: View) -> impl Stream<Item = Result<Event, Infallible>> {
    let (events, stream) = mpsc::channel(BUFFERED);
    tokio::spawn(async move {
        let follower = Follower::new(app, frame, view, events.clone());
        tokio::select! {
            _gone = follower.run() => {}
            () = events.closed() => {}
        }
    });
    ReceiverStream::new(stream)
}

struct Follower {
    app: App,
    frame: Frame,
    view: View,
    events: mpsc::Sender<Result<Event, Infallible>>,
    environment: watch::Receiver<EnvironmentView>,
    board: watch::Receiver<Arc<BoardView>>,
    verdicts: Vec<(Arc<Lab>, watch::Receiver<Arc<Verdicts>>)>,
    /// What the page has.
    sent: BTreeMap<String, String>,
    told: Option<(EnvironmentIs, Vec<Arc<Verdicts>>)>,
}

impl Follower {
    fn new(
        app: App,
        frame: Frame,
        view: View,
        events: mpsc::Sender<Result<Event, Infallible>>,
    ) -> Self {
        let desk = app.desk();
        let labs = match &view {
            View::Home => app.library().labs().to_vec(),
            View::Environment => Vec::new(),
            View::Lab(lab, _) | View::Report(lab) => vec![Arc::clone(lab)],
        };
        let verdicts = labs.into_iter().map(|lab| {
            let receiver = desk.verdicts(&lab.rules.id);
            (lab, receiver)
        });
        Self {
            environment: desk.environment(),
            board: desk.board(),
            verdicts: verdicts.collect(),
            sent: BTreeMap::new(),
            told: None,
            app,
            frame,
            view,
            events,
        }
    }

    /// Ends when the page or the platform goes.
    async fn run(mut self) -> Option<()> {
        loop {
            self.send_changes().await?;
            let Self {
                app,
                environment,
                board,
                verdicts,
                ..
            } = &mut self;
            let verdicts = verdicts
                .iter_mut()
                .map(|(_, verdicts)| Box::pin(verdicts.changed()));
            let any_verdict = async {
                match verdicts.collect::<Vec<_>>() {
                    none if none.is_empty() => std::future::pending().await,
                    some => futures::future::select_all(some).await.0,
                }
            };
            tokio::select! {
                changed = environment.changed() => changed.ok()?,
                changed = board.changed() => changed.ok()?,
                changed = any_verdict => changed.ok()?,
                () = app.stopping() => return None,
            }
        }
    }

    async fn send_changes(&mut self) -> Option<()> {
        let environment = self.environment.borrow_and_update().clone();
        let board = self.board.borrow_and_update().clone();
        let verdicts: Vec<_> = self
            .verdicts
            .iter_mut()
            .map(|(_, one)| one.borrow_and_update().clone())
            .collect();
        self.frame.environment = environment.is.clone();
        self.tell(&environment.is, &verdicts).await?;
        for (region, html) in self.pieces(&environment, &board, &verdicts) {
            if self.sent.get(&region) != Some(&html) {
                let piece = serde_json::json!({ "region": region, "html": html });
                self.send("piece", &piece).await?;
                self.sent.insert(region, html);
            }
        }
        Some(())
    }

    fn pieces(
        &self,
        environment: &EnvironmentView,
        board: &BoardView,
        verdicts: &[Arc<Verdicts>],
    ) -> Vec<(String, String)> {
        let frame = &self.frame;
        let mut pieces = vec![(
            "environment-badge".to_owned(),
            environment::badge_html(frame),
        )];
        let first = verdicts.first().cloned().unwrap_or_default();
        match &self.view {
            View::Home => pieces.extend(self.verdicts.iter().zip(verdicts).map(
                |((lab, _), verdicts)| {
                    let points = criteria::lab_points(lab, verdicts);
                    (
                        format!("progress-{}", lab.rules.id),
                        home::progress_html(points, &frame.words),
                    )
                },
            )),
            View::Environment => {
                pieces.push((
                    "environment".to_owned(),
                    environment::html(&self.app, frame, environment),
                ));
            }
            View::Report(lab) => pieces.push((
                "report".to_owned(),
                report::html(&self.app, frame, lab, &first),
            )),
            View::Lab(lab, id) => {
                let (texts, words) = (lab.texts(frame.words.language), &frame.words);
                if let Some(step) = lab.rules.step(id) {
                    let html = criteria::criteria_html(step, texts, words, &first);
                    pieces.push(("criteria".to_owned(), html));
                }
                let lab_id = lab.rules.id.as_str();
                let back = format!("/labs/{lab_id}/{id}");
                pieces.extend([
                    (
                        "steps".to_owned(),
                        criteria::steps_html(lab, id, words, &frame.base, &first),
                    ),
                    ("board".to_owned(), board::html(board, words)),
                    (
                        "offer".to_owned(),
                        environment::offer_html(environment, frame, lab_id, &back),
                    ),
                ]);
            }
        }
        pieces
    }

    /// Says what changed since the last look: verdicts in words, and that the workbench can be shown or is gone.
    async fn tell(&mut self, is: &EnvironmentIs, verdicts: &[Arc<Verdicts>]) -> Option<()> {
        let before = self.told.replace((is.clone(), verdicts.to_vec()));
        let Some((was, before)) = before else {
            return Some(());
        };
        let View::Lab(lab, _) = self.view.clone() else {
            return Some(());
        };
        for (old, new) in before.iter().zip(verdicts) {
            for sentence in self.changes(&lab, old, new) {
                self.send("say", &sentence).await?;
            }
        }
        if (was == EnvironmentIs::Running) != (*is == EnvironmentIs::Running) {
            self.send("reload", &"environment").await?;
        }
        Some(())
    }

    fn changes(&self, lab: &Lab, old: &Verdicts, new: &Verdicts) -> Vec<String> {
        let words = &self.frame.words;
        let texts = lab.texts(words.language);
        let changed = lab.rules.criteria().filter_map(|(_, criterion)| {
            let id = criterion.id.as_str();
            let (was, is) = (old.standing(id), new.standing(id));
            let key = match is {
                Standing::Passed if was != is => "say-passed",
                Standing::Failed if was != is => "say-failed",
                _ => return None,
            };
            let title = texts
                .catalogue()
                .value(id, &course::Args::new())
                .unwrap_or_else(|| id.to_owned());
            Some(words.x(key, title))
        });
        changed.collect()
    }

    async fn send(&self, kind: &str, data: &impl serde::Serialize) -> Option<()> {
        let event = Event::default().event(kind).json_data(data).ok()?;
        self.events.send(Ok(event)).await.ok()
    }
}
