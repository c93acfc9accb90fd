//! An object of a kind whose types live in somebody else's project: metadata that we understand, and the rest as it was sent. Only the fields that
//! matter to admission are looked at, so that a newer version of the kind loses nothing on its way through us.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value, json};

use crate::error::JobError;
use crate::job::{Change, StartError};
use crate::merge;
use crate::pod_set_info::PodSetInfo;

/// The object.
#[derive(Clone, Debug)]
pub(crate) struct Untyped {
    /// Its metadata.
    pub(crate) meta: ObjectMeta,
    /// All else.
    rest: Value,
    kind: &'static str,
}

impl Untyped {
    /// Splits an object.
    pub(crate) fn read(kind: &'static str, mut object: Value) -> Result<Self, JobError> {
        let wrong = |source| JobError::Read { kind, source };
        let fields = object.as_object_mut();
        let meta = fields.and_then(|fields| fields.remove("metadata"));
        Ok(Self {
            meta: serde_json::from_value(meta.unwrap_or_else(|| json!({}))).map_err(wrong)?,
            rest: object,
            kind,
        })
    }

    /// The object as it is sent.
    pub(crate) fn to_value(&self) -> Result<Value, JobError> {
        let kind = self.kind;
        let meta =
            serde_json::to_value(&self.meta).map_err(|source| JobError::Write { kind, source })?;
        let mut object = Map::new();
        for (key, value) in self.rest.as_object().into_iter().flatten() {
            object.insert(key.clone(), value.clone());
        }
        object.insert("metadata".to_owned(), meta);
        Ok(Value::Object(object))
    }

    /// A field by its JSON pointer.
    #[must_use]
    pub(crate) fn get(&self, pointer: &str) -> Option<&Value> {
        self.rest.pointer(pointer).filter(|value| !value.is_null())
    }

    /// A number by its JSON pointer.
    #[must_use]
    pub(crate) fn number(&self, pointer: &str) -> Option<i32> {
        i32::try_from(self.get(pointer)?.as_i64()?).ok()
    }

    /// A text by its JSON pointer, if it is not empty.
    #[must_use]
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.get(pointer)?.as_str().filter(|text| !text.is_empty())
    }

    /// Whether a field is true.
    #[must_use]
    pub(crate) fn is_on(&self, path: &[&str]) -> bool {
        let found = path.iter().try_fold(&self.rest, |at, key| at.get(*key));
        found == Some(&Value::Bool(true))
    }

    /// Sets a field of an object that is there; objects on the way are made.
    pub(crate) fn set(&mut self, path: &[&str], value: Value) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let mut at = &mut self.rest;
        for key in parents {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[*key];
        }
        at[*last] = value;
    }

    /// Takes a field away.
    pub(crate) fn remove(&mut self, path: &[&str]) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let parent = parents
            .iter()
            .try_fold(&mut self.rest, |at, key| at.get_mut(*key));
        if let Some(fields) = parent.and_then(Value::as_object_mut) {
            fields.shift_remove(*last);
        }
    }

    /// Makes an object at a JSON pointer, unless something is there.
    pub(crate) fn ensure(&mut self, pointer: &str) {
        if self.get(pointer).is_none() {
            let path: Vec<_> = pointer.trim_start_matches('/').split('/').collect();
            self.set(&path, Value::Object(Map::new()));
        }
    }

    /// A pod template by its JSON pointer; an absent one is empty.
    pub(crate) fn template(&self, pointer: &str) -> Result<PodTemplateSpec, JobError> {
        let kind = self.kind;
        let found = self.get(pointer).cloned().unwrap_or_else(|| json!({}));
        serde_json::from_value(found).map_err(|source| JobError::Read { kind, source })
    }

    /// Changes the pod template at a JSON pointer. Fields of it that our types do not know stay as they are.
    pub(crate) fn change_template<E: From<JobError>>(
        &mut self,
        pointer: &str,
        change: impl FnOnce(&mut PodTemplateSpec) -> Result<(), E>,
    ) -> Result<(), E> {
        let kind = self.kind;
        let write = |template: &PodTemplateSpec| {
            serde_json::to_value(template).map_err(|source| JobError::Write { kind, source })
        };
        let mut template = self.template(pointer)?;
        let before = write(&template)?;
        change(&mut template)?;
        if let Some(patch) = merge::between(&before, &write(&template)?)
            && let Some(place) = self.rest.pointer_mut(pointer)
        {
            merge::apply(place, &patch);
        }
        Ok(())
    }

    /// Puts what an admission adds into the templates at these JSON pointers, one for each.
    pub(crate) fn merge_infos(
        &mut self,
        templates: &[String],
        infos: &[PodSetInfo],
    ) -> Result<(), StartError> {
        if infos.len() != templates.len() {
            return Err(JobError::Infos {
                want: templates.len(),
                got: infos.len(),
            }
            .into());
        }
        for (pointer, info) in templates.iter().zip(infos) {
            self.change_template(pointer, |template| {
                info.merge_into(template).map_err(StartError::from)
            })?;
        }
        Ok(())
    }

    /// What stops it: the field `suspend` is set, and the templates at these JSON pointers are given back what `infos` say, where these
    /// belong to them. Nothing if all is so already.
    pub(crate) fn stop(
        &self,
        suspend: &[&str],
        templates: &[String],
        infos: Option<&[PodSetInfo]>,
    ) -> Option<Change> {
        let mut stopped = self.clone();
        stopped.set(suspend, json!(true));
        stopped.restore_infos(templates, infos);
        self.patch_to(&stopped).map(Change::Object)
    }

    fn restore_infos(&mut self, templates: &[String], infos: Option<&[PodSetInfo]>) {
        let infos = infos.filter(|infos| infos.len() == templates.len());
        for (pointer, info) in templates.iter().zip(infos.into_iter().flatten()) {
            // A template that cannot be read cannot have been changed by us.
            let _ = self.change_template(pointer, |template| {
                info.restore_into(template, &[]);
                Ok::<_, JobError>(())
            });
        }
    }

    /// A condition of the status that is true.
    #[must_use]
    pub(crate) fn true_condition(&self, types: &[&str]) -> Option<(&str, &str)> {
        let conditions = self.get("/status/conditions")?.as_array()?;
        conditions.iter().find_map(|condition| {
            let text = |key: &str| condition[key].as_str().unwrap_or_default();
            let over = text("status") == "True" && types.contains(&text("type"));
            over.then(|| (text("type"), text("message")))
        })
    }

    /// The merge patch that turns this object into another state of it.
    #[must_use]
    pub(crate) fn patch_to(&self, new: &Self) -> Option<Value> {
        merge::between(&self.to_value().ok()?, &new.to_value().ok()?)
    }
}
