//! Waiting for a fact. The limit only ends a test that hangs; no assertion rests on how long something took.

use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

/// Returns once `holds` does.
pub(crate) async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let asked = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, asked).await.is_err() {
        panic!("never: {what}");
    }
}
