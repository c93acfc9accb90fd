//! A site with a fake desk, and small readers for its answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use course::{Lab, LabId};
use exec::Cmd;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use scraper::{Html, Selector};
use serde_json::Value;
use store::Store;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::environments::shell::ShellCommand;
use crate::web::assets::Assets;
use crate::web::desk::{
    Act, AnswerRefusal, BoardView, Desk, EnvironmentIs, EnvironmentView, Verdicts,
};
use crate::web::guard::SESSION_COOKIE;
use crate::web::library::Library;
use crate::web::position::Positions;
use crate::web::routes::router;
use crate::web::secret::Secret;
use crate::web::state::{App, Parts, PublicAddress};
use crate::web::terminal::registry::Terminals;
use crate::web::terminal::{ShellRefusal, Shells};

pub(super) const HOST: &str = "localhost:8080";

/// One page of every sort, for what must hold on all of them.
pub(super) const PAGES: [&str; 5] = [
    "/",
    "/labs/essai/compter",
    "/environment",
    "/reports/essai",
    "/nowhere",
];

#[derive(Debug, Default)]
pub(super) struct FakeDesk {
    pub environment: watch::Sender<EnvironmentView>,
    pub verdicts: watch::Sender<Arc<Verdicts>>,
    pub board: watch::Sender<Arc<BoardView>>,
    pub acts: Mutex<Vec<(Act, Option<String>)>>,
    pub answers: Mutex<BTreeMap<String, Value>>,
    pub logs: Mutex<Vec<(String, PathBuf)>>,
    pub kubeconfig: Mutex<Option<String>>,
}

impl FakeDesk {
    pub(super) fn is(&self, is: EnvironmentIs) {
        self.environment.send_modify(|view| view.is = is);
    }
}

impl Desk for FakeDesk {
    fn environment(&self) -> watch::Receiver<EnvironmentView> {
        self.environment.subscribe()
    }

    fn act(&self, act: Act, lab: Option<Arc<Lab>>) {
        self.acts
            .lock()
            .push((act, lab.map(|lab| lab.rules.id.to_string())));
    }

    fn logs(&self) -> Vec<(String, PathBuf)> {
        self.logs.lock().clone()
    }

    fn kubeconfig(&self) -> Option<String> {
        self.kubeconfig.lock().clone()
    }

    fn verdicts(&self, _lab: &LabId) -> watch::Receiver<Arc<Verdicts>> {
        self.verdicts.subscribe()
    }

    fn board(&self) -> watch::Receiver<Arc<BoardView>> {
        self.board.subscribe()
    }

    fn answers(&self, _lab: &LabId) -> BTreeMap<String, Value> {
        self.answers.lock().clone()
    }

    fn answer(
        &self,
        _lab: &LabId,
        question: &str,
        value: Value,
    ) -> BoxFuture<'_, Result<(), AnswerRefusal>> {
        let result = match self.environment.borrow().is {
            EnvironmentIs::Running => Ok(()),
            _ => Err(AnswerRefusal::NoEnvironment),
        };
        if result.is_ok() {
            self.answers.lock().insert(question.to_owned(), value);
        }
        async { result }.boxed()
    }

    fn shells(&self) -> Arc<dyn Shells> {
        Arc::new(PlainShells)
    }
}

/// A shell without a sandbox: what a sandbox holds is tested where it is made.
#[derive(Debug)]
struct PlainShells;

impl Shells for PlainShells {
    fn shell(&self, _lab: &LabId) -> BoxFuture<'_, Result<ShellCommand, ShellRefusal>> {
        async { Ok(Cmd::new("/bin/sh").env("PS1", "ready> ").into()) }.boxed()
    }
}

pub(super) struct Site {
    pub desk: Arc<FakeDesk>,
    pub secret: Secret,
    pub app: App,
    pub router: Router,
    pub stop: CancellationToken,
    _dir: TempDir,
}

impl Site {
    pub(super) async fn new() -> Self {
        Self::at(PublicAddress::default()).await
    }

    pub(super) async fn at(address: PublicAddress) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("atelier.db")).await.unwrap();
        let library = Library::load(&fixtures().join("labs")).unwrap();
        assert_eq!(library.broken, [], "the fixture is a valid lab");
        let ids = library.labs().iter().map(|lab| lab.rules.id.clone());
        let positions = Positions::load(store, ids).await.unwrap();
        let desk = Arc::new(FakeDesk::default());
        let secret = Secret::random();
        let stop = CancellationToken::new();
        let app = App::new(Parts {
            secret: secret.clone(),
            address,
            assets: Assets::load(&bundle(dir.path())).unwrap(),
            library,
            positions,
            terminals: Terminals::new(desk.shells()),
            desk: Arc::clone(&desk) as Arc<dyn Desk>,
            stop: stop.clone(),
        });
        Self {
            desk,
            secret,
            router: router(app.clone()),
            app,
            stop,
            _dir: dir,
        }
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// A page as a browser that was here before asks for it.
    pub(super) async fn get(&self, path: &str) -> Page {
        Page::read(
            self.send(self.request("GET", path).body(Body::empty()).unwrap())
                .await,
        )
        .await
    }

    pub(super) fn request(&self, method: &str, path: &str) -> http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", HOST)
            .header("accept", "text/html,*/*")
            .header(
                "cookie",
                format!("{SESSION_COOKIE}={}", self.secret.session()),
            )
    }

    /// A form as our own pages send it.
    pub(super) async fn submit(&self, path: &str, fields: &str) -> Response<Body> {
        let body = format!("token={}&{fields}", self.secret.token());
        let request = self
            .request("POST", path)
            .header("origin", format!("http://{HOST}"))
            .header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    /// A call as our own scripts make it.
    pub(super) async fn call(&self, method: &str, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = self
            .request(method, path)
            .header("origin", format!("http://{HOST}"))
            .header("x-atelier-token", self.secret.token())
            .header("content-type", "application/json");
        let mut request = request.body(Body::from(body.to_string())).unwrap();
        request
            .headers_mut()
            .insert("accept", "application/json".parse().unwrap());
        let response = self.send(request).await;
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (
            status,
            serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        )
    }
}

/// A parsed answer.
pub(super) struct Page {
    pub status: StatusCode,
    pub headers: http::HeaderMap,
    pub text: String,
    pub html: Html,
}

impl Page {
    pub(super) async fn read(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Self {
            status: parts.status,
            headers: parts.headers,
            html: Html::parse_document(&text),
            text,
        }
    }

    pub(super) fn all(&self, selector: &str) -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        self.html
            .select(&selector)
            .map(|element| tidy(&element.text().collect::<String>()))
            .collect()
    }

    pub(super) fn one(&self, selector: &str) -> String {
        let mut found = self.all(selector);
        assert_eq!(found.len(), 1, "{selector} in {}", self.text);
        found.remove(0)
    }

    pub(super) fn attributes(&self, selector: &str, attribute: &str) -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        self.html
            .select(&selector)
            .filter_map(|element| element.attr(attribute).map(ToOwned::to_owned))
            .collect()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map(|value| value.to_str().unwrap())
            .unwrap_or_default()
    }
}

fn tidy(text: &str) -> String {
    text.split([' ', '\n'])
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

pub(in crate::web) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A bundle as the build step leaves it, with a word for each file.
fn bundle(dir: &Path) -> PathBuf {
    let names = [
        "app.css", "app.js", "early.js", "icon.svg", "lab.css", "lab.js",
    ];
    let manifest: BTreeMap<&str, String> = names
        .map(|name| (name, name.replace('.', ".0123456789abcdef.")))
        .into();
    for file in manifest.values() {
        std::fs::write(dir.join(file), format!("plain {file}")).unwrap();
        std::fs::write(dir.join(format!("{file}.br")), "brotli").unwrap();
        std::fs::write(dir.join(format!("{file}.gz")), "gzip").unwrap();
    }
    std::fs::write(
        dir.join("manifest.json"),
        serde_json::to_string(&manifest).unwrap(),
    )
    .unwrap();
    dir.to_owned()
}
