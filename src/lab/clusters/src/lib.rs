//! Brings trainee clusters up and down as a list of undoable actions; providers and faked GPU nodes.
