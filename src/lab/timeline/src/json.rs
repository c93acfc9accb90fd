//! Short ways into JSON objects.

use serde_json::Value;

/// The value at a dotted path (`status.conditions`).
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

pub(crate) fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    at(value, path)?.as_str()
}

pub(crate) fn items<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The condition of that type.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    items(object, "status.conditions")
        .iter()
        .find(|condition| text(condition, "type") == Some(kind))
}

pub(crate) fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).and_then(|condition| text(condition, "status")) == Some("True")
}

/// The uid of the controlling owner.
pub(crate) fn controller(object: &Value) -> Option<(&str, &str)> {
    items(object, "metadata.ownerReferences")
        .iter()
        .find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))
        .and_then(|owner| Some((text(owner, "kind")?, text(owner, "uid")?)))
}
