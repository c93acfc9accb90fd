//! A small builder of structural schemas: each method sets one keyword, and reads like the reference's tables.

use serde_json::{Map, Value, json};

/// A node of a schema.
#[derive(Clone, Debug)]
pub(crate) struct Schema(Map<String, Value>);

fn of(kind: &str) -> Schema {
    Schema(Map::from_iter([("type".to_owned(), json!(kind))]))
}

pub(crate) fn string() -> Schema {
    of("string")
}

pub(crate) fn boolean() -> Schema {
    of("boolean")
}

pub(crate) fn int32() -> Schema {
    of("integer").set("format", json!("int32"))
}

pub(crate) fn int64() -> Schema {
    of("integer").set("format", json!("int64"))
}

pub(crate) fn time() -> Schema {
    string().set("format", json!("date-time"))
}

pub(crate) fn object() -> Schema {
    of("object")
}

/// A string that is one of these.
pub(crate) fn one_of(values: &[&str]) -> Schema {
    string().set("enum", json!(values))
}

pub(crate) fn list(items: Schema) -> Schema {
    of("array").set("items", items.into_value())
}

/// A list whose elements are told apart by these fields.
pub(crate) fn map_list(keys: &[&str], items: Schema) -> Schema {
    list(items)
        .set("x-kubernetes-list-map-keys", json!(keys))
        .set("x-kubernetes-list-type", json!("map"))
}

pub(crate) fn set_list(items: Schema) -> Schema {
    list(items).set("x-kubernetes-list-type", json!("set"))
}

pub(crate) fn atomic_list(items: Schema) -> Schema {
    list(items).atomic_list()
}

pub(crate) fn map(values: Schema) -> Schema {
    object().set("additionalProperties", values.into_value())
}

/// A Kubernetes quantity: a number, or a number with a suffix.
pub(crate) fn quantity() -> Schema {
    let pattern = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";
    Schema(Map::new())
        .set("anyOf", json!([{"type": "integer"}, {"type": "string"}]))
        .set("pattern", json!(pattern))
        .set("x-kubernetes-int-or-string", json!(true))
}

impl Schema {
    fn set(mut self, keyword: &str, value: Value) -> Self {
        self.0.insert(keyword.to_owned(), value);
        self
    }

    pub(crate) fn doc(self, text: &str) -> Self {
        self.set("description", json!(text))
    }

    pub(crate) fn default(self, value: impl Into<Value>) -> Self {
        self.set("default", value.into())
    }

    pub(crate) fn pattern(self, pattern: &str) -> Self {
        self.set("pattern", json!(pattern))
    }

    /// Shortest and longest string.
    pub(crate) fn length(self, min: u32, max: u32) -> Self {
        let limited = self.set("maxLength", json!(max));
        if min == 0 {
            limited
        } else {
            limited.set("minLength", json!(min))
        }
    }

    /// Fewest and most elements.
    pub(crate) fn items(self, min: u32, max: u32) -> Self {
        let limited = self.set("maxItems", json!(max));
        if min == 0 {
            limited
        } else {
            limited.set("minItems", json!(min))
        }
    }

    pub(crate) fn max_properties(self, max: u32) -> Self {
        self.set("maxProperties", json!(max))
    }

    pub(crate) fn min(self, min: i64) -> Self {
        self.set("minimum", json!(min))
    }

    /// The list is replaced as a whole.
    pub(crate) fn atomic_list(self) -> Self {
        self.set("x-kubernetes-list-type", json!("atomic"))
    }

    pub(crate) fn atomic_map(self) -> Self {
        self.set("x-kubernetes-map-type", json!("atomic"))
    }

    /// Fields that are not listed are kept as they are.
    pub(crate) fn open(self) -> Self {
        self.set("x-kubernetes-preserve-unknown-fields", json!(true))
    }

    /// A CEL rule and what is said when it does not hold.
    pub(crate) fn rule(mut self, rule: &str, message: &str) -> Self {
        let rules = self
            .0
            .entry("x-kubernetes-validations")
            .or_insert_with(|| json!([]));
        if let Some(rules) = rules.as_array_mut() {
            rules.push(json!({"message": message, "rule": rule}));
        }
        self
    }

    pub(crate) fn field(mut self, name: &str, schema: Self) -> Self {
        let fields = self.0.entry("properties").or_insert_with(|| json!({}));
        if let Some(fields) = fields.as_object_mut() {
            fields.insert(name.to_owned(), schema.into_value());
        }
        self
    }

    /// A field that must be there.
    pub(crate) fn required(mut self, name: &str, schema: Self) -> Self {
        let required = self.0.entry("required").or_insert_with(|| json!([]));
        if let Some(required) = required.as_array_mut() {
            required.push(json!(name));
        }
        self.field(name, schema)
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}
