//! Reviews in process, the whole way over TLS, and the manifest that tells the API server of them.

mod manifest;
mod reviews;
mod tls;
