//! Each job kind to and from a Workload, one folder a kind. No client.
