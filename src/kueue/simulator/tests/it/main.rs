//! Every script of `scenarios/` is played and compared with the text beside it; `UPDATE_EXPECT=1` rewrites the texts.

mod errors;
mod lessons;
