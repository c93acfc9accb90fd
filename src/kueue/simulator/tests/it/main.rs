//! Every script of `scenarios/` is played and compared with the text beside it; `UPDATE_EXPECT=1` rewrites the texts.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read its scripts fails"
)]

mod errors;
mod lessons;
