//! What one run of the harness found, and the mean of several.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use serde::Deserialize;

use crate::manager::Cost;

/// One run, or a mean of runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Seconds from start to end of the harness.
    pub(super) wall: f64,
    pub(super) cost: Cost,
    /// Processor seconds of etcd and API server, where they are known.
    pub(super) servers: f64,
    /// Mean milliseconds from creation to admission, by class of Workloads.
    pub(super) admission: BTreeMap<String, f64>,
    /// Evictions in all.
    pub(super) evictions: f64,
    /// Percent of the quota that was used on average.
    pub(super) usage: f64,
    /// Seconds from the first event of a queue to the last.
    pub(super) span: f64,
    /// Requests that the API server has answered, the harness's own too, by what was asked.
    pub(super) requests: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    cluster_queue_classes: BTreeMap<String, Queues>,
    workload_classes: BTreeMap<String, Workloads>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Queues {
    cpu_used: f64,
    nominal_quota: f64,
    first_event_time: Timestamp,
    last_event_time: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Workloads {
    total_evictions: f64,
    average_time_to_admission_ms: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    user_ms: f64,
    sys_ms: f64,
    maxrss: f64,
}

/// What the harness measured of the manager that it started.
pub(super) fn cost_of(stats: &Path) -> anyhow::Result<Cost> {
    let stats: Stats = read(stats)?;
    Ok(Cost {
        cpu: (stats.user_ms + stats.sys_ms) / 1_000.0,
        memory: stats.maxrss / 1024.0,
    })
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_saphyr::from_str(&text).with_context(|| path.display().to_string())
}

/// Who asked what how often, from the API server's metrics.
pub(super) fn requests(metrics: &str) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    let lines = metrics.lines().filter_map(|line| {
        line.strip_prefix("apiserver_request_total{")?
            .split_once("} ")
    });
    for (labels, count) in lines {
        let label = |name: &str| {
            let (_, rest) = labels.split_once(&format!("{name}=\""))?;
            rest.split_once('"').map(|(value, _)| value)
        };
        let text = |name: &str| label(name).unwrap_or_default();
        let counts = text("resource").to_owned()
            + if text("subresource").is_empty() {
                ""
            } else {
                "/"
            };
        let what = format!(
            "{} {counts}{} {}",
            text("verb"),
            text("subresource"),
            text("code")
        );
        let count: f64 = count.parse().unwrap_or_default();
        *all.entry(what).or_default() += count;
    }
    all
}

impl Figures {
    /// From the harness's summary.
    pub(super) fn read(dir: &Path, wall: f64, cost: Cost) -> anyhow::Result<Self> {
        let summary: Summary = read(&dir.join("summary.yaml"))?;
        let mut figures = Self {
            wall,
            cost,
            ..Self::default()
        };
        for (class, found) in summary.workload_classes {
            figures.evictions += found.total_evictions;
            figures
                .admission
                .insert(class, found.average_time_to_admission_ms);
        }
        for queues in summary.cluster_queue_classes.values() {
            let span = queues
                .last_event_time
                .duration_since(queues.first_event_time);
            let span = span.as_secs_f64();
            figures.span = figures.span.max(span);
            figures.usage = queues.cpu_used * 100.0 / (queues.nominal_quota * span * 1_000.0);
        }
        Ok(figures)
    }

    /// The mean of each.
    pub(super) fn mean(runs: &[Self]) -> Self {
        let mean = |of: &dyn Fn(&Self) -> f64| {
            let count = f64::from(u32::try_from(runs.len()).unwrap_or(1).max(1));
            runs.iter().map(of).sum::<f64>() / count
        };
        let classes = runs.iter().flat_map(|run| run.admission.keys().cloned());
        let asked = runs.iter().flat_map(|run| run.requests.keys().cloned());
        let requests = asked.map(|what| {
            let of = |run: &Self| run.requests.get(&what).copied().unwrap_or_default();
            let mean = mean(&of);
            (what, mean)
        });
        let requests = requests.collect();
        let admission = classes.map(|class| {
            let of = |run: &Self| run.admission.get(&class).copied().unwrap_or_default();
            let mean = mean(&of);
            (class, mean)
        });
        Self {
            admission: admission.collect(),
            wall: mean(&|run| run.wall),
            cost: Cost {
                cpu: mean(&|run| run.cost.cpu),
                memory: mean(&|run| run.cost.memory),
            },
            servers: mean(&|run| run.servers),
            evictions: mean(&|run| run.evictions),
            usage: mean(&|run| run.usage),
            span: mean(&|run| run.span),
            requests,
        }
    }
}
