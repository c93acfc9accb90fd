//! The whole site in process: requests go to the router, answers are parsed, the desk is a fake that tests move.

mod endless;
mod every_page;
mod gone;
mod heartbeats;
mod live;
mod lost_lines;
mod pages;
mod security;
mod site;
mod sockets;
mod style;
mod wire;

pub(super) use site::fixtures;
