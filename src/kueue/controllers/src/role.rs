//! Whether this process may write: the only replica, the one that holds the lease, or one that waits for it.

use std::sync::Arc;

use tokio::sync::watch;

/// Part of this replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Leader election is off.
    Standalone,
    Leader,
    Follower,
}

impl Role {
    /// Value of the metric label `replica_role`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standalone => "standalone",
            Self::Leader => "leader",
            Self::Follower => "follower",
        }
    }

    /// Whether this replica decides and writes.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Self::Follower
    }
}

/// The role as it is now, shared by everything that depends on it.
#[derive(Clone, Debug)]
pub struct CurrentRole(Arc<watch::Sender<Role>>);

impl CurrentRole {
    #[must_use]
    pub fn new(role: Role) -> Self {
        Self(Arc::new(watch::Sender::new(role)))
    }

    #[must_use]
    pub fn get(&self) -> Role {
        *self.0.borrow()
    }

    pub fn set(&self, role: Role) {
        self.0.send_replace(role);
    }

    /// Returns once this replica may write.
    pub async fn wait_to_write(&self) {
        let mut changes = self.0.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = changes.wait_for(|role| role.writes()).await;
    }
}
