//! Watched objects become scheduler inputs, plans become patches. Synchronous, no client.
