//! The whole site in process: requests go to the router, answers are parsed, the desk is a fake that tests move.

mod every_page;
mod live;
mod pages;
mod security;
mod site;
mod sockets;
mod style;

pub(super) use site::fixtures;
