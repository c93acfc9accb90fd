//! Watches one cluster and writes what happened. Owner: judge.
