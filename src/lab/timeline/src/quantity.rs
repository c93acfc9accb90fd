//! Kubernetes quantities as numbers, for predicates and the board. (The exact arithmetic of quotas is the controller's affair.)

use serde_json::Value;

/// `"500m"`, `"8Gi"`, `4`, `"1e3"` as a number.
pub fn quantity(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => parse(text),
        _ => None,
    }
}

pub(crate) fn parse(text: &str) -> Option<f64> {
    const SUFFIXES: &[(&str, f64)] = &[
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    SUFFIXES
        .iter()
        .find_map(|(suffix, factor)| Some(text.strip_suffix(suffix)?.parse::<f64>().ok()? * factor))
}
