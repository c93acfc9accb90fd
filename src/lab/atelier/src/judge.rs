//! Entries of the record → verdicts. Owner: judge.
