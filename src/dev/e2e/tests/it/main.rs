//! Real clusters and a real browser, from outside: only the product's binaries, kubectl, helm and HTTP are used.
//!
//! Every test takes the machine for itself ([`machine`]): two control planes at a time are what two cores bear.

mod browser;
mod bundle;
mod commands;
mod controller;
mod crds;
mod environments;
mod host;
mod host_node;
mod isolation;
mod kind;
mod lab_page;
mod labs;
mod machine;
mod pastes;
mod patience;
mod platform_cases;
mod promises;
mod simulated;
mod walls;
