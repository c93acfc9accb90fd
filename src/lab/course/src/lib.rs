//! Lab files become typed labs and safe HTML; lint. Pure.
