//! The metrics registry and `/metrics`. Counters and histograms are kept here as they happen; gauges are read from the
//! state of their owner at each scrape, so that no sample can outlive the object it speaks of.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
pub use prometheus_client::registry::Registry;

/// Label names and values, in the order they are printed.
pub type Labels = Vec<(&'static str, String)>;
/// A counter by labels.
pub type Counters = Labelled<Counter, fn() -> Counter>;
/// A histogram by labels.
pub type Histograms = Labelled<Histogram, Buckets>;

/// A family of metrics that remembers which labels it has, so that those of an object that is gone can be dropped.
#[derive(Clone, Debug)]
pub struct Labelled<M, C> {
    family: Family<Labels, M, C>,
    known: Arc<Mutex<BTreeSet<Labels>>>,
}

impl<M: Clone + 'static, C: MetricConstructor<M>> Labelled<M, C> {
    fn new(constructor: C) -> Self {
        Self {
            family: Family::new_with_constructor(constructor),
            known: Arc::default(),
        }
    }

    /// The metric of these labels.
    #[must_use]
    pub fn with(&self, labels: &Labels) -> M {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(labels) {
            known.insert(labels.clone());
        }
        self.family.get_or_create_owned(labels)
    }

    /// Drops every metric that carries all of these labels.
    pub fn forget(&self, labels: &[(&str, &str)]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let carries = |has: &Labels| {
            labels
                .iter()
                .all(|(name, value)| has.iter().any(|(n, v)| n == name && v == value))
        };
        let gone: Vec<Labels> = known.iter().filter(|has| carries(has)).cloned().collect();
        for labels in gone {
            self.family.remove(&labels);
            known.remove(&labels);
        }
    }
}

/// Upper bounds of a histogram's buckets.
#[derive(Clone, Debug)]
pub struct Buckets(pub Vec<f64>);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

/// All samples of one gauge at the moment of a scrape.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Full name.
    pub name: &'static str,
    /// One sentence, without the final stop.
    pub help: &'static str,
    /// Samples; a gauge without any is not printed.
    pub samples: Vec<(Labels, f64)>,
}

/// Something that can say what its gauges are now.
pub trait Gauges: Send + Sync + 'static {
    /// The gauges, each name once.
    fn gauges(&self) -> Vec<Gauge>;
}

struct Scrape(Arc<dyn Gauges>);

impl fmt::Debug for Scrape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrape")
    }
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for gauge in self.0.gauges() {
            if gauge.samples.is_empty() {
                continue;
            }
            let mut family =
                encoder.encode_descriptor(gauge.name, gauge.help, None, MetricType::Gauge)?;
            for (labels, value) in &gauge.samples {
                ConstGauge::new(*value).encode(family.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}

/// Registers a source of gauges.
pub fn register_gauges(registry: &mut Registry, source: Arc<dyn Gauges>) {
    registry.register_collector(Box::new(Scrape(source)));
}

/// Registers a counter; `name` is given without `_total`, which the format adds.
pub fn register_counter(registry: &mut Registry, name: &str, help: &str) -> Counters {
    let counters = Counters::new(Counter::default);
    registry.register(name, help, counters.family.clone());
    counters
}

/// Registers a histogram.
pub fn register_histogram(
    registry: &mut Registry,
    name: &str,
    help: &str,
    bounds: Vec<f64>,
) -> Histograms {
    let histograms = Histograms::new(Buckets(bounds));
    registry.register(name, help, histograms.family.clone());
    histograms
}

/// The whole registry as text.
#[must_use]
pub fn render(registry: &Registry) -> String {
    let mut text = String::new();
    if prometheus_client::encoding::text::encode(&mut text, registry).is_err() {
        // Only a broken label could do that; half an exposition would be worse than none.
        text.clear();
    }
    text
}

/// `/metrics`.
pub fn router(registry: Arc<Registry>) -> Router {
    let answer = move || {
        let text = render(&registry);
        std::future::ready((
            [(
                CONTENT_TYPE,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            )],
            text,
        ))
    };
    Router::new().route("/metrics", get(answer))
}
