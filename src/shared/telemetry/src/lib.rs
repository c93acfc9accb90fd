//! Logging set-up, metrics registry and health endpoints, shared by both products.
//! It knows nothing about Kueue or lessons: names of metrics and checks come from its users.

pub mod address;
pub mod health;
pub mod logging;
pub mod metrics;

#[cfg(test)]
mod tests;
