//! Reconcilers, the scheduling loop, leader election, events, metrics: all that holds a Kubernetes client.
