//! Real environments: the whole life of one, what happens when things die, and what two cannot do to each other.

mod faults;
mod life;
mod machine;
