//! A world as an API server would hold it, in the order in which the objects can be created.

use serde::Serialize;
use serde_json::Value;

use super::World;

impl World {
    /// Every object, jobs last.
    ///
    /// # Errors
    /// When an object cannot be written as JSON.
    pub fn objects(&self) -> serde_json::Result<Vec<Value>> {
        let mut all = Vec::new();
        written(self.namespaces.values(), &mut all)?;
        written(self.topologies.values(), &mut all)?;
        written(self.flavors.values(), &mut all)?;
        written(self.nodes.values(), &mut all)?;
        written(self.cohorts.values(), &mut all)?;
        written(self.queues.values(), &mut all)?;
        written(self.locals.values(), &mut all)?;
        written(self.jobs.values().map(|job| &job.object), &mut all)?;
        Ok(all)
    }
}

fn written<'a, T: Serialize + 'a>(
    objects: impl Iterator<Item = &'a T>,
    all: &mut Vec<Value>,
) -> serde_json::Result<()> {
    for object in objects {
        all.push(serde_json::to_value(object)?);
    }
    Ok(())
}
