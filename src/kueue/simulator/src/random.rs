//! Random worlds: a seed becomes a script in the language that people write, so that whatever it finds can be replayed, read and made
//! smaller. The same seed is the same script for ever; there is no other source of chance.

mod chance;
mod generate;
mod shrink;

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::player::Player;
use crate::script::{Statement, split};

pub use chance::Chance;
pub use generate::script;

/// What a world found that must never be.
#[derive(Clone, Debug)]
pub struct Found {
    /// The world.
    pub seed: u64,
    /// What is wrong, from the smallest script.
    pub violations: Vec<String>,
    /// The smallest script that still shows it.
    pub script: String,
}

/// Plays the world of a seed.
///
/// # Errors
/// What must never be, with a script to replay it.
pub fn world(seed: u64) -> Result<(), Box<Found>> {
    let statements = split(&script(seed));
    if violations(&statements).is_empty() {
        return Ok(());
    }
    let smallest = shrink::shrink(statements);
    let texts: Vec<_> = smallest.iter().map(|one| one.text.as_str()).collect();
    Err(Box::new(Found {
        seed,
        violations: violations(&smallest),
        script: texts.join("\n") + "\n",
    }))
}

/// Plays statements, leaving out what cannot be carried out, until something is wrong. A panic is wrong, too.
fn violations(statements: &[Statement]) -> Vec<String> {
    let played = catch_unwind(AssertUnwindSafe(|| {
        let mut player = Player::new("random");
        for statement in statements {
            let _ = player.play(statement);
            if !player.violations().is_empty() {
                break;
            }
        }
        player.violations().to_vec()
    }));
    played.unwrap_or_else(|_| vec!["panic".to_owned()])
}
