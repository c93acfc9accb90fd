//! What the provider remembers of each environment while the platform runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::control::History;
use crate::provider::{EnvironmentId, EnvironmentState};

/// One environment's place.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) history: History,
    /// Held during an act, so that acts on one environment follow each other.
    pub(super) acting: tokio::sync::Mutex<()>,
    /// Whether somebody passes the supervisor's events on.
    attached: Mutex<bool>,
    /// Cancels the create or start that is going on.
    current: Mutex<CancellationToken>,
}

/// All places, made when first asked for.
#[derive(Debug, Default)]
pub(super) struct Slots(Mutex<BTreeMap<EnvironmentId, Arc<Slot>>>);

impl Slots {
    pub(super) fn of(&self, id: &EnvironmentId) -> Arc<Slot> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(id.clone()).or_insert_with(|| {
            Arc::new(Slot {
                history: History::new(EnvironmentState::Stopped),
                acting: tokio::sync::Mutex::new(()),
                attached: Mutex::new(false),
                current: Mutex::new(CancellationToken::new()),
            })
        }))
    }
}

impl Slot {
    /// True for the one who is to pass events on, until [`Slot::detach`].
    pub(super) fn attach(&self) -> bool {
        !std::mem::replace(
            &mut *self.attached.lock().unwrap_or_else(PoisonError::into_inner),
            true,
        )
    }

    pub(super) fn detach(&self) {
        *self.attached.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// A token for a new create or start, cancelled with the caller's or by [`Slot::cancel_current`].
    pub(super) fn begin(&self, caller: &CancellationToken) -> CancellationToken {
        let token = caller.child_token();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }

    pub(super) fn cancel_current(&self) {
        self.current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .cancel();
    }
}
