//! Real clusters and a real browser.
