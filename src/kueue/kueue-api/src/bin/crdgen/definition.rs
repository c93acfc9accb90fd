//! A custom resource definition: the present version and the older one, with what `kubectl` and the API server should know about the kind.

use kueue_api::names::{
    API_VERSION, CONVERTED_DEFINITIONS, GROUP, SYSTEM_NAMESPACE, VERSION, WEBHOOK_SERVICE,
};
use serde_json::{Value, json};

use crate::older;
use crate::schema::{Schema, object, string};

pub(crate) struct Definition {
    pub kind: &'static str,
    pub plural: &'static str,
    pub singular: &'static str,
    pub namespaced: bool,
    pub short_names: &'static [&'static str],
    pub status: bool,
    pub columns: Vec<Column>,
    pub selectable: &'static [&'static str],
    /// The object, without `apiVersion`, `kind` and `metadata`.
    pub schema: Schema,
}

/// A column of `kubectl get`.
pub(crate) struct Column {
    pub name: &'static str,
    pub path: &'static str,
    pub kind: &'static str,
    pub doc: &'static str,
    /// Shown only with `-o wide`.
    pub wide: bool,
}

impl Column {
    pub(crate) fn new(
        name: &'static str,
        path: &'static str,
        kind: &'static str,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            path,
            kind,
            doc,
            wide: false,
        }
    }

    pub(crate) fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    fn to_value(&self) -> Value {
        let mut column = json!({"jsonPath": self.path, "name": self.name, "type": self.kind});
        if !self.doc.is_empty() {
            column["description"] = json!(self.doc);
        }
        if self.wide {
            column["priority"] = json!(1);
        }
        column
    }
}

impl Definition {
    pub(crate) fn file_name(&self) -> String {
        format!("{GROUP}_{}.yaml", self.plural)
    }

    pub(crate) fn to_value(&self) -> Value {
        let name = format!("{}.{GROUP}", self.plural);
        let converted = CONVERTED_DEFINITIONS.contains(&name.as_str());
        let mut metadata = json!({ "name": name });
        let conversion = if converted {
            // Only looked at by cert-manager.
            metadata["annotations"] = json!({"cert-manager.io/inject-ca-from": format!("{SYSTEM_NAMESPACE}/kueue-serving-cert")});
            let service =
                json!({"name": WEBHOOK_SERVICE, "namespace": SYSTEM_NAMESPACE, "path": "/convert"});
            json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}})
        } else {
            json!({"strategy": "None"})
        };
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": metadata,
            "spec": {
                "conversion": conversion,
                "group": GROUP,
                "names": {
                    "kind": self.kind,
                    "listKind": format!("{}List", self.kind),
                    "plural": self.plural,
                    "shortNames": self.short_names,
                    "singular": self.singular,
                },
                "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
                "versions": [self.present(), self.older()],
            },
        })
    }

    fn present(&self) -> Value {
        let mut version = self.version(VERSION, &self.whole().into_value(), &self.columns);
        version["storage"] = json!(true);
        if !self.selectable.is_empty() {
            version["selectableFields"] = self
                .selectable
                .iter()
                .map(|path| json!({"jsonPath": path}))
                .collect();
        }
        version
    }

    fn older(&self) -> Value {
        let columns: Vec<Column> = self.columns.iter().map(older::column).collect();
        let schema = older::schema(self.kind, self.whole().into_value());
        self.version("v1beta1", &schema, &columns)
    }

    fn version(&self, name: &str, schema: &Value, columns: &[Column]) -> Value {
        let mut version = json!({"name": name, "served": true, "storage": false});
        if !columns.is_empty() {
            version["additionalPrinterColumns"] = columns.iter().map(Column::to_value).collect();
        }
        version["schema"] = json!({ "openAPIV3Schema": schema });
        if self.status {
            version["subresources"] = json!({"status": {}});
        }
        version
    }

    fn whole(&self) -> Schema {
        let api_version = format!("Version of this representation: {API_VERSION}.");
        self.schema
            .clone()
            .field("apiVersion", string().doc(&api_version))
            .field("kind", string().doc("Kind of the object."))
            .field("metadata", object())
    }
}
