//! The machine is shared by all tests of this program: a test takes some of its places and gives them back.

use tokio::sync::{Semaphore, SemaphorePermit};

/// How many control planes run at once.
const PLACES: usize = 2;
/// The whole machine, for what must not be slowed down by others.
pub(crate) const ALL: u32 = 2;

static MACHINE: Semaphore = Semaphore::const_new(PLACES);

/// Room for one environment.
pub(crate) async fn place() -> SemaphorePermit<'static> {
    places(1).await
}

/// Room for several environments at once.
pub(crate) async fn places(count: u32) -> SemaphorePermit<'static> {
    MACHINE
        .acquire_many(count)
        .await
        .expect("the semaphore is never closed")
}
