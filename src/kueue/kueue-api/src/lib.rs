//! Wire types of the Kueue groups and of the manager's configuration; defaulting and validation. No client.
