//! The way up from an object to the topmost job that Kueue manages, along the references to controllers. Looking objects up is the
//! caller's business: [`Walk::next`] says which, [`Walk::found`] takes what was there. Reference section 5.1, "Management decision".

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::names::labels;

/// Steps after which the search is given up.
pub const LIMIT: usize = 10;

/// How an owner is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Not at all: the way ends there.
    No,
    /// Its children are not jobs of their own, but Kueue does not manage it.
    Passed,
    /// Kueue manages its kind.
    Managed,
}

/// An object on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Ancestor {
    /// How it was named.
    pub owner: OwnerReference,
    pub meta: ObjectMeta,
}

impl Ancestor {
    /// Whether it names a queue.
    #[must_use]
    pub fn names_a_queue(&self) -> bool {
        let own = self.meta.labels.as_ref();
        own.and_then(|own| own.get(labels::QUEUE_NAME))
            .is_some_and(|name| !name.is_empty())
    }
}

/// Why the way does not lead anywhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Astray {
    #[error("terminated search for Kueue-managed Job because of cyclic ownership")]
    Cyclic,
    #[error("managed owners chain limit reached")]
    TooDeep,
    #[error("workload owner not found: {kind} {name:?}")]
    OwnerNotFound { kind: String, name: String },
}

/// A search under way.
#[derive(Clone, Debug)]
pub struct Walk {
    seen: BTreeSet<String>,
    at: ObjectMeta,
    top: Option<Ancestor>,
    unnamed: bool,
}

impl Walk {
    /// Starts from an object; `unnamed` is `manageJobsWithoutQueueName`.
    #[must_use]
    pub fn from(object: &ObjectMeta, unnamed: bool) -> Self {
        Self {
            seen: BTreeSet::new(),
            at: object.clone(),
            top: None,
            unnamed,
        }
    }

    /// The owner to be looked up; none once the search is over.
    ///
    /// # Errors
    /// When an object is its own ancestor.
    pub fn next(
        &mut self,
        known: impl Fn(&OwnerReference) -> Known,
    ) -> Result<Option<OwnerReference>, Astray> {
        let uid = self.at.uid.clone().unwrap_or_default();
        if !self.seen.insert(uid) {
            return Err(Astray::Cyclic);
        }
        let owner = controller(&self.at).filter(|owner| known(owner) != Known::No);
        Ok(owner.cloned())
    }

    /// Goes on to the owner that was asked for. False if it is another object of that name, where the search ends.
    ///
    /// # Errors
    /// When it is not there, or too far up.
    pub fn found(
        &mut self,
        owner: &OwnerReference,
        known: Known,
        object: Option<ObjectMeta>,
    ) -> Result<bool, Astray> {
        let Some(meta) = object else {
            let (kind, name) = (owner.kind.clone(), owner.name.clone());
            return Err(Astray::OwnerNotFound { kind, name });
        };
        if meta.uid.as_deref().unwrap_or_default() != owner.uid {
            return Ok(false);
        }
        let ancestor = Ancestor {
            owner: owner.clone(),
            meta,
        };
        self.at = ancestor.meta.clone();
        if known == Known::Managed && (self.unnamed || ancestor.names_a_queue()) {
            self.top = Some(ancestor);
        }
        if self.seen.len() > LIMIT {
            return Err(Astray::TooDeep);
        }
        Ok(true)
    }

    /// The topmost managed ancestor on the way so far.
    #[must_use]
    pub fn top(self) -> Option<Ancestor> {
        self.top
    }
}

/// The whole search, for callers that have everything at hand.
///
/// # Errors
/// See [`Astray`].
pub fn find(
    object: &ObjectMeta,
    unnamed: bool,
    known: impl Fn(&OwnerReference) -> Known,
    look_up: impl Fn(&OwnerReference) -> Option<ObjectMeta>,
) -> Result<Option<Ancestor>, Astray> {
    let mut walk = Walk::from(object, unnamed);
    while let Some(owner) = walk.next(&known)? {
        if !walk.found(&owner, known(&owner), look_up(&owner))? {
            break;
        }
    }
    Ok(walk.top())
}

/// The controller of an object.
#[must_use]
pub fn controller(meta: &ObjectMeta) -> Option<&OwnerReference> {
    let owners = meta.owner_references.as_ref()?;
    owners.iter().find(|owner| owner.controller == Some(true))
}

#[cfg(test)]
mod tests;
