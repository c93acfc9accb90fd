//! Admission reviews over TLS.
