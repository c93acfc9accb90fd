//! Logging set-up, metrics registry, health endpoints.
