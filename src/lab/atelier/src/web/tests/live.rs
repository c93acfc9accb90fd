use std::sync::Arc;

use axum::body::{Body, BodyDataStream};
use futures::StreamExt as _;
use serde_json::Value;

use super::site::Site;
use crate::web::desk::{EnvironmentIs, Standing, VerdictView, Verdicts};

/// The events of a stream, comments left out.
struct Events {
    body: BodyDataStream,
    pending: String,
}

impl Events {
    async fn of(site: &Site, path: &str) -> Self {
        let response = site
            .send(site.request("GET", path).body(Body::empty()).unwrap())
            .await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert_eq!(response.headers()["cache-control"], "no-cache");
        Self {
            body: response.into_body().into_data_stream(),
            pending: String::new(),
        }
    }

    /// The next event's kind and data; `None` when the stream has ended.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.pending.split_once("\n\n") {
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name))
                        .map(str::trim)
                };
                let found = field("event:")
                    .map(ToOwned::to_owned)
                    .zip(field("data:").map(ToOwned::to_owned));
                self.pending = rest.to_owned();
                if let Some((kind, data)) = found {
                    return Some((kind, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            self.pending
                .push_str(std::str::from_utf8(&self.body.next().await?.unwrap()).unwrap());
        }
    }

    async fn regions(&mut self, count: usize) -> Vec<String> {
        let mut regions = Vec::new();
        while regions.len() < count {
            let (kind, data) = self.next().await.unwrap();
            assert_eq!(kind, "piece");
            regions.push(data["region"].as_str().unwrap().to_owned());
        }
        regions
    }
}

fn passed(criterion: &str) -> Arc<Verdicts> {
    let verdict = VerdictView {
        standing: Standing::Passed,
        reason: "passed".to_owned(),
        ..VerdictView::default()
    };
    Arc::new(Verdicts([(criterion.to_owned(), verdict)].into()))
}

#[tokio::test]
async fn a_stream_begins_with_everything_and_goes_on_with_changes() {
    let site = Site::new().await;
    let mut events = Events::of(&site, "/events?view=lab&lab=essai&step=voir").await;
    assert_eq!(
        events.regions(5).await,
        ["environment-badge", "criteria", "steps", "board", "offer"]
    );
    site.desk.verdicts.send_replace(passed("prete"));
    assert_eq!(
        events.next().await.unwrap(),
        (
            "say".to_owned(),
            "Critère rempli : La file est prête"
                .replace(" :", "\u{a0}:")
                .into()
        )
    );
    let (_, piece) = events.next().await.unwrap();
    assert_eq!(piece["region"], "criteria");
    assert!(piece["html"].as_str().unwrap().contains("is-passed"));
    assert_eq!(events.regions(1).await, ["steps"]);
}

#[tokio::test]
async fn the_page_is_told_when_a_workbench_can_be_had() {
    let site = Site::new().await;
    let mut events = Events::of(&site, "/events?view=lab&lab=essai&step=voir").await;
    events.regions(5).await;
    site.desk.is(EnvironmentIs::Starting);
    assert_eq!(events.regions(2).await, ["environment-badge", "offer"]);
    site.desk.is(EnvironmentIs::Running);
    assert_eq!(events.next().await.unwrap().0, "reload");
    assert_eq!(events.regions(2).await, ["environment-badge", "offer"]);
    // And when it goes (platform case 067), so that nobody types into what is no more.
    site.desk.is(EnvironmentIs::Deleting);
    assert_eq!(events.next().await.unwrap().0, "reload");
}

#[tokio::test]
async fn streams_end_with_the_platform() {
    let site = Site::new().await;
    for view in ["home", "environment", "report&lab=essai"] {
        let mut events = Events::of(&site, &format!("/events?view={view}")).await;
        events.regions(2).await;
        if view == "report&lab=essai" {
            site.stop.cancel();
            assert_eq!(events.next().await, None);
        }
    }
}
