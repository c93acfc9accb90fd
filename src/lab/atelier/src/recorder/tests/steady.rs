use crate::recorder::SteadyClock;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).expect("a time")
}

/// Case 061: the machine's time may be set while the recorder runs: only the monotonic clock moves this one.
#[test]
fn runs_with_the_monotonic_clock_only() {
    let clock = SteadyClock::after(at(0), None);
    let shown = clock.shown(Duration::from_millis(2500));
    assert_eq!(
        shown,
        at(0)
            .checked_add(SignedDuration::from_millis(2500))
            .expect("a time")
    );
    assert_eq!(clock.until(at(-1)), Duration::ZERO);
    assert!(clock.until(at(3600)) > Duration::from_secs(3000));
}

/// Case 061: between two runs the machine's time went back two hours.
#[test]
fn never_goes_back_behind_the_record() {
    let clock = SteadyClock::after(at(-7200), Some(at(5)));
    assert!(clock.shown(Duration::ZERO) > at(5));
    let later = SteadyClock::after(at(60), Some(at(5)));
    assert_eq!(later.shown(Duration::ZERO), at(60));
}
