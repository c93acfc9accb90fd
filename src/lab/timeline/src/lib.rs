//! Recorded history of a cluster, the facts derived from it, criteria and verdicts. Pure.
