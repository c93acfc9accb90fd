//! The metrics registry and `/metrics`. Counters and histograms are kept here as they happen; gauges are read from the
//! state of their owner at each scrape, so that no sample can outlive the object it speaks of.

use std::fmt;
use std::sync::Arc;

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
pub type Counters = Family<Labels, Counter>;
/// A histogram by labels.
pub type Histograms = Family<Labels, Histogram, Buckets>;

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
            let mut family = encoder.encode_descriptor(gauge.name, gauge.help, None, MetricType::Gauge)?;
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
    let family = Counters::default();
    registry.register(name, help, family.clone());
    family
}

/// Registers a histogram.
pub fn register_histogram(registry: &mut Registry, name: &str, help: &str, bounds: Vec<f64>) -> Histograms {
    let family = Histograms::new_with_constructor(Buckets(bounds));
    registry.register(name, help, family.clone());
    family
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
        std::future::ready(([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text))
    };
    Router::new().route("/metrics", get(answer))
}
