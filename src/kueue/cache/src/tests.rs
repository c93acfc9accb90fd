//! Scenarios: objects in, cycles, statuses out. `fixture.rs` plays the API server, `random.rs` does everything in any order.

pub(crate) mod fixture;
mod queueing;
mod random;
mod scenarios;
mod second_turns;
mod statuses;
