//! What the terminal's screen and modes are now, for pages whose copy of the output begins in the middle.
//!
//! The model has no scrollback: the history keeps that as bytes.

#[cfg(test)]
mod tests;

use std::fmt;
use std::num::NonZeroU16;

use exec::PtySize;

/// A screen model fed with all output.
pub struct Screen(vt100::Parser);

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Screen")
            .field(&self.0.screen().size())
            .finish()
    }
}

impl Screen {
    /// An empty screen.
    #[must_use]
    pub fn new(size: PtySize) -> Self {
        let (rows, cols) = at_least_one(size);
        Self(vt100::Parser::new(rows, cols, 0))
    }

    /// Takes in output.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.0.process(bytes);
    }

    /// Follows the terminal's size.
    pub fn resize(&mut self, size: PtySize) {
        let (rows, cols) = at_least_one(size);
        self.0.screen_mut().set_size(rows, cols);
    }

    /// What a page must write after cut output to show the same screen in the same modes.
    #[must_use]
    pub fn restore(&self) -> Vec<u8> {
        let screen = self.0.screen();
        if screen.alternate_screen() {
            return format!("\x1b[?1049h{}", screen.state_formatted()).into_bytes();
        }
        format!(
            "{}{}",
            screen.attributes_formatted(),
            screen.input_mode_formatted()
        )
        .into_bytes()
    }
}

fn at_least_one(size: PtySize) -> (NonZeroU16, NonZeroU16) {
    (
        NonZeroU16::new(size.rows).unwrap_or(NonZeroU16::MIN),
        NonZeroU16::new(size.cols).unwrap_or(NonZeroU16::MIN),
    )
}
