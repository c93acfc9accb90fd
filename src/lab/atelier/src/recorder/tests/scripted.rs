//! An API server in memory: objects with versions, lists in pages, watches from a version, compaction, interruptions.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use kube::{Client, client::Body as RequestBody};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::{collections::BTreeMap, convert::Infallible, sync::Arc};
use tokio::sync::watch;

type Body = UnsyncBoxBody<Bytes, std::io::Error>;

#[derive(Default)]
struct State {
    version: u64,
    /// Plural → name → object.
    objects: BTreeMap<String, BTreeMap<String, Value>>,
    /// (version, plural, type, object)
    log: Vec<(u64, String, &'static str, Value)>,
    /// Versions below are forgotten.
    compacted: u64,
    expiring_pages: usize,
    /// The status of the next answers about Jobs, and how many.
    refusals: (u16, usize),
    defined: Vec<String>,
}

#[derive(Clone)]
pub(super) struct ApiServer {
    state: Arc<Mutex<State>>,
    /// Grows with every change; watches wake up.
    changes: watch::Sender<u64>,
    down: watch::Sender<bool>,
}

const CUSTOM: &[&str] = &[
    "workloads",
    "clusterqueues",
    "localqueues",
    "cohorts",
    "resourceflavors",
    "workloadpriorityclasses",
];

impl ApiServer {
    pub(super) fn new() -> Self {
        let server = Self {
            state: Arc::default(),
            changes: watch::channel(0).0,
            down: watch::channel(false).0,
        };
        let uid = format!("{:p}", Arc::as_ptr(&server.state));
        server.put(
            "namespaces",
            json!({"metadata": {"name": "kube-system", "uid": uid}}),
        );
        server
    }

    pub(super) fn put(&self, plural: &str, object: Value) {
        self.change(plural, object, false);
    }

    /// A new version without any difference.
    pub(super) fn touch(&self, plural: &str, name: &str) {
        let object = self.state.lock().objects[plural][name].clone();
        self.change(plural, object, false);
    }

    pub(super) fn remove(&self, plural: &str, name: &str) {
        let object = self.state.lock().objects[plural][name].clone();
        self.change(plural, object, true);
    }

    fn change(&self, plural: &str, mut object: Value, deleted: bool) {
        let mut state = self.state.lock();
        state.version += 1;
        let version = state.version;
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        let name = object["metadata"]["name"]
            .as_str()
            .expect("a name")
            .to_owned();
        let objects = state.objects.entry(plural.to_owned()).or_default();
        let verb = match (deleted, objects.contains_key(&name)) {
            (true, _) => "DELETED",
            (false, true) => "MODIFIED",
            (false, false) => "ADDED",
        };
        if deleted {
            objects.remove(&name);
        } else {
            objects.insert(name, object.clone());
        }
        state.log.push((version, plural.to_owned(), verb, object));
        drop(state);
        self.changes.send_replace(version);
    }

    /// Refuses connections, and breaks the ones that are open.
    pub(super) fn down(&self, down: bool) {
        self.down.send_replace(down);
    }

    /// Forgets the history: watches from the past answer 410.
    pub(super) fn compact(&self) {
        let mut state = self.state.lock();
        state.compacted = state.version;
    }

    /// So many continuations of lists answer 410.
    pub(super) fn expire_pages(&self, times: usize) {
        self.state.lock().expiring_pages = times;
    }

    /// So many requests about Jobs are answered with this status.
    pub(super) fn refuse(&self, code: u16, times: usize) {
        self.state.lock().refusals = (code, times);
    }

    pub(super) fn define(&self, plural: &str, group: &str, version: &str) {
        self.state.lock().defined.push(plural.to_owned());
        self.put(
            "customresourcedefinitions",
            json!({"metadata": {"name": format!("{plural}.{group}"), "uid": format!("crd-{plural}")},
                "spec": {"versions": [{"name": version, "served": true}]},
                "status": {"conditions": [{"type": "Established", "status": "True"}]}}),
        );
    }

    pub(super) fn undefine(&self, plural: &str, group: &str) {
        {
            let mut state = self.state.lock();
            state.defined.retain(|known| known != plural);
            state.objects.remove(plural);
        }
        self.remove("customresourcedefinitions", &format!("{plural}.{group}"));
    }

    pub(super) fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<RequestBody>| {
            let server = server.clone();
            async move { server.answer(&request) }
        });
        Client::new(service, "default")
    }

    fn answer(&self, request: &Request<RequestBody>) -> Result<Response<Body>, std::io::Error> {
        if *self.down.borrow() {
            return Err(std::io::Error::other("connection refused"));
        }
        let path: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
        let query: BTreeMap<String, String> = request
            .uri()
            .query()
            .unwrap_or_default()
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let last = *path.last().unwrap_or(&"");
        if last == "kube-system" {
            return Ok(json_response(
                200,
                &self.state.lock().objects["namespaces"]["kube-system"],
            ));
        }
        if last == "jobs"
            && let (code, left @ 1..) = &mut self.state.lock().refusals
        {
            *left -= 1;
            return Ok(json_response(*code, &status(*code, "Refused")));
        }
        if CUSTOM.contains(&last) && !self.state.lock().defined.iter().any(|known| known == last) {
            return Ok(json_response(404, &status(404, "NotFound")));
        }
        if query.contains_key("watch") {
            return Ok(self.watch(last, &query));
        }
        Ok(self.list(last, &query))
    }

    fn list(&self, plural: &str, query: &BTreeMap<String, String>) -> Response<Body> {
        let mut state = self.state.lock();
        let offset: usize = query
            .get("continue")
            .and_then(|token| token.parse().ok())
            .unwrap_or(0);
        if offset > 0 && state.expiring_pages > 0 {
            state.expiring_pages -= 1;
            return json_response(410, &status(410, "Expired"));
        }
        let limit: usize = query
            .get("limit")
            .and_then(|limit| limit.parse().ok())
            .unwrap_or(500);
        let all: Vec<Value> = state
            .objects
            .get(plural)
            .map(|all| all.values().cloned().collect())
            .unwrap_or_default();
        let page: Vec<Value> = all.iter().skip(offset).take(limit).cloned().collect();
        let more = if offset + page.len() < all.len() {
            (offset + page.len()).to_string()
        } else {
            String::new()
        };
        let metadata = json!({"resourceVersion": state.version.to_string(), "continue": more});
        json_response(
            200,
            &json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": page}),
        )
    }

    fn watch(&self, plural: &str, query: &BTreeMap<String, String>) -> Response<Body> {
        let from: u64 = query
            .get("resourceVersion")
            .and_then(|version| version.parse().ok())
            .unwrap_or(0);
        if from < self.state.lock().compacted {
            return json_response(410, &status(410, "Expired"));
        }
        let (server, plural) = (self.clone(), plural.to_owned());
        let stream = futures::stream::unfold(
            (server, plural, from, false),
            |(server, plural, from, broken)| async move {
                if broken {
                    return None;
                }
                let mut changes = server.changes.subscribe();
                let mut down = server.down.subscribe();
                loop {
                    changes.borrow_and_update();
                    if *down.borrow_and_update() {
                        let error = std::io::Error::other("connection reset");
                        return Some((Err(error), (server, plural, from, true)));
                    }
                    let defined = !CUSTOM.contains(&plural.as_str())
                        || server.state.lock().defined.contains(&plural);
                    if !defined {
                        return None;
                    }
                    let next = server
                        .state
                        .lock()
                        .log
                        .iter()
                        .find(|(at, of, ..)| *at > from && *of == plural)
                        .cloned();
                    if let Some((at, _, verb, object)) = next {
                        let mut object = object;
                        object["apiVersion"] = json!("v1");
                        object["kind"] = json!("Any");
                        let line = format!("{}\n", json!({"type": verb, "object": object}));
                        let frame = hyper::body::Frame::data(Bytes::from(line));
                        return Some((Ok(frame), (server, plural, at, false)));
                    }
                    tokio::select! {
                        _ = changes.changed() => {}
                        _ = down.changed() => {}
                    }
                }
            },
        );
        Response::new(http_body_util::StreamBody::new(stream).boxed_unsync())
    }
}

fn status(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": reason, "reason": reason, "code": code})
}

fn json_response(code: u16, value: &Value) -> Response<Body> {
    let bytes = Bytes::from(value.to_string());
    let body = http_body_util::Full::new(bytes).map_err(|never: Infallible| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(code).expect("a status");
    response
}

pub(super) fn job(name: &str, uid: &str, suspended: bool) -> Value {
    json!({"metadata": {"name": name, "namespace": "equipe-vision", "uid": uid}, "spec": {"suspend": suspended}})
}

/// How many lines of a record begin so.
pub(super) fn names(record: &[String], beginning: &str) -> usize {
    record
        .iter()
        .filter(|line| line.starts_with(beginning))
        .count()
}
