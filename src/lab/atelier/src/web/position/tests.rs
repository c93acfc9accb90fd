use course::{LabId, StepId};
use jiff::Timestamp;
use store::Store;

use super::Positions;

#[tokio::test]
async fn the_last_step_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("atelier.db")).await.unwrap();
    let (lab, step) = (
        LabId::new("d1-am").unwrap(),
        StepId::new("installer").unwrap(),
    );
    let positions = Positions::load(store.clone(), [lab.clone()]).await.unwrap();
    assert_eq!((positions.lab(), positions.step(&lab)), (None, None));
    positions.set(&lab, &step, Timestamp::UNIX_EPOCH).await;
    let again = Positions::load(store, [lab.clone()]).await.unwrap();
    assert_eq!((again.lab(), again.step(&lab)), (Some(lab), Some(step)));
}
