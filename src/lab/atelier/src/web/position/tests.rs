use course::{LabId, StepId};

use super::Positions;

#[test]
fn the_last_step_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let (lab, step) = (LabId::new("d1-am").unwrap(), StepId::new("installer").unwrap());
    let positions = Positions::load(dir.path());
    assert_eq!((positions.lab(), positions.step(&lab)), (None, None));
    positions.set(&lab, &step);
    let again = Positions::load(dir.path());
    assert_eq!((again.lab(), again.step(&lab)), (Some(lab), Some(step)));
}

#[test]
fn a_damaged_file_is_like_none() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("position.json"), "{").unwrap();
    assert_eq!(Positions::load(dir.path()).lab(), None);
}
