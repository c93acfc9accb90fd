//! Amounts by resource, in the order of the resources' names.

use crate::small_map::Iter;
use crate::{Amount, ResourceName, SmallMap};

/// How much of each resource. A resource that is missing and one that is zero are different things: only the second is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Requests(SmallMap<ResourceName, Amount>);

impl Requests {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The amount of one resource; zero if it is not there.
    #[must_use]
    pub fn get(&self, resource: &ResourceName) -> Amount {
        self.0.get(resource).copied().unwrap_or_default()
    }

    /// Whether the resource is there, be it with zero.
    #[must_use]
    pub fn contains(&self, resource: &ResourceName) -> bool {
        self.0.contains_key(resource)
    }

    /// Sets one resource.
    pub fn set(&mut self, resource: ResourceName, amount: Amount) {
        self.0.insert(resource, amount);
    }

    /// Takes one resource out.
    pub fn remove(&mut self, resource: &ResourceName) -> Option<Amount> {
        self.0.remove(resource)
    }

    /// Adds to one resource.
    pub fn add(&mut self, resource: &ResourceName, amount: Amount) {
        match self.0.get_mut(resource) {
            Some(own) => *own += amount,
            None => self.set(resource.clone(), amount),
        }
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for (resource, amount) in other {
            self.add(resource, *amount);
        }
    }

    /// Raises each resource of `other` to at least what it is there.
    pub fn raise_to(&mut self, other: &Self) {
        for (resource, amount) in other {
            let own = self.0.entry(resource.clone()).or_insert(*amount);
            *own = (*own).max(*amount);
        }
    }

    /// Each amount for `count` pods.
    #[must_use]
    pub fn times(&self, count: i64) -> Self {
        self.iter()
            .map(|(resource, amount)| (resource.clone(), amount.times(count)))
            .collect()
    }

    /// Each amount's share of one of `count` pods.
    #[must_use]
    pub fn per(&self, count: i64) -> Self {
        self.iter()
            .map(|(resource, amount)| (resource.clone(), amount.per(count)))
            .collect()
    }

    /// Each amount, at least zero.
    #[must_use]
    pub fn floor_zero(&self) -> Self {
        self.iter()
            .map(|(resource, amount)| (resource.clone(), amount.floor_zero()))
            .collect()
    }

    /// How many times this fits into what is free, and the resource that stops it first: of several, the first by name.
    /// What is asked for with zero stops nobody; nothing asked for fits nowhere, as in the reference.
    #[must_use]
    pub fn times_in(&self, free: &Self) -> (i64, Option<ResourceName>) {
        let most = i64::from(i32::MAX);
        let times = |(resource, amount): (&ResourceName, &Amount)| {
            let times = free.get(resource).value().checked_div(amount.value());
            (times.unwrap_or(most).clamp(0, most), resource.clone())
        };
        let least = self.iter().map(times).min();
        least.map_or((0, None), |(times, resource)| (times, Some(resource)))
    }

    /// The resources of which there is more here than in `other`, among those that both have.
    #[must_use]
    pub fn greater_keys(&self, other: &Self) -> Vec<ResourceName> {
        let more = |(resource, amount): &(&ResourceName, &Amount)| {
            other.0.get(*resource).is_some_and(|most| *amount > most)
        };
        self.iter()
            .filter(more)
            .map(|(resource, _)| resource.clone())
            .collect()
    }

    /// In the order of the names.
    pub fn iter(&self) -> Iter<'_, ResourceName, Amount> {
        self.0.iter()
    }

    /// Whether nothing is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(ResourceName, Amount)> for Requests {
    fn from_iter<I: IntoIterator<Item = (ResourceName, Amount)>>(amounts: I) -> Self {
        Self(amounts.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Requests {
    type Item = (&'a ResourceName, &'a Amount);
    type IntoIter = Iter<'a, ResourceName, Amount>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
