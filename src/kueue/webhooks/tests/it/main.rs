//! Reviews in process, and the whole way over TLS.

mod reviews;
mod tls;
