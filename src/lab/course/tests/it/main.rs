//! Whole labs: the ones of this repository, and malformed ones.

mod faults;
mod labs;
mod sample;
