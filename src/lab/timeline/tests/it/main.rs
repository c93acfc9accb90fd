//! Criteria on histories with a clock of their own: tables of cases, gaps, replay, properties.

mod facts;
mod gaps;
mod properties;
mod settling;
mod speed;
mod words;
mod world;
