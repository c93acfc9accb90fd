//! Rules about one Workload that need nothing but objects: which phase it is in, which checks it needs, whose priority counts, how many
//! pods it still has. They take the objects of the wire and answer with values; nobody writes anything here. Reference 4.9–4.13 and 4.22.

pub mod checks;
pub mod phase;
pub mod pods;
pub mod priority;
pub mod slices;

#[cfg(test)]
mod tests;
