//! Kubernetes quantities and saturating resource amounts. Pure.
