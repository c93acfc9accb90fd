//! The platform's pages, live updates and terminals over HTTP.
//!
//! [`routes`] is the table of the site; a page family has a file in [`pages`]; what every answer needs (host and origin
//! checks, headers, visitor) is a layer. Nothing here starts a cluster or judges: that comes through [`desk::Desk`].

pub mod assets;
pub mod desk;
pub mod desk_live;
pub mod error;
pub mod events;
pub mod frame;
pub mod guard;
pub mod headers;
pub mod library;
pub mod pages;
pub mod position;
pub mod routes;
pub mod secret;
pub mod state;
pub mod terminal;
pub mod visitor;
pub mod words;

#[cfg(test)]
mod tests;
