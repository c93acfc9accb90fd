//! Builders and fakes for tests. A dev-dependency only.
