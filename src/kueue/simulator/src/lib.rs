//! A scripted world on `cache`: scripts in, text out, and nothing that must never be goes unnoticed. Pure; the binary reads files.
//!
//! `script` reads the language, `world` does what it says and carries cycles out as the controllers would, `check` looks for violations,
//! `show` prints, `player` ties them together. `LANGUAGE.md` describes the language. Start reading at `player.rs`.

mod check;
mod player;
pub mod random;
mod script;
mod show;
mod world;

pub use check::{after_cycle, always, at_rest, overdrawn};
pub use player::Player;
pub use script::{
    Body, Change, Clause, Command, Kind, Object, Problem, ScriptError, Setting, Statement, View,
    parse, split,
};
pub use show::view;
pub use world::{Busy, Cycled, Happening, Job, MOST_CYCLES, Refused, World};
