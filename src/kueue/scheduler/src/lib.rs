//! Decides one admission cycle from values; returns a plan and a report. Pure.
