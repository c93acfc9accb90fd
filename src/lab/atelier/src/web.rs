//! Pages, live updates and terminals over HTTP.
