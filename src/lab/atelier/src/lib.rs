//! The platform's binary: pages, SSE, terminal, JSON API, recorder, command line.
