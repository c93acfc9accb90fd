//! When the recorder did not see: gaps (something may be missed for ever) and interruptions (things are learned late).

use jiff::{SignedDuration, Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gap {
    pub(crate) kinds: Vec<String>,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) seq: u64,
}

#[derive(Clone, Debug)]
struct Interruption {
    kinds: Vec<String>,
    from: Timestamp,
    to: Option<Timestamp>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Silence {
    gaps: Vec<Gap>,
    interruptions: Vec<Interruption>,
}

/// The kinds from which facts about jobs are derived.
pub(crate) const JOB_SOURCES: &[&str] = &["Job", "Workload"];

fn concerns(kinds: &[String], of: &[&str]) -> bool {
    kinds.iter().any(|kind| of.contains(&kind.as_str()))
}

impl Silence {
    pub(crate) fn gap(&mut self, gap: Gap) {
        self.gaps.push(gap);
    }

    pub(crate) fn lost(&mut self, kinds: &[String], at: Timestamp) {
        self.interruptions.push(Interruption {
            kinds: kinds.to_vec(),
            from: at,
            to: None,
        });
    }

    pub(crate) fn back(&mut self, kinds: &[String], at: Timestamp) {
        for interruption in &mut self.interruptions {
            if interruption.to.is_none()
                && interruption.kinds.iter().any(|kind| kinds.contains(kind))
            {
                interruption.to = Some(at);
            }
        }
    }

    pub(crate) fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The first gap in what is known of these kinds between two instants, of those that `counts`.
    pub(crate) fn gap_between(
        &self,
        of: &[&str],
        from: Timestamp,
        to: Timestamp,
        counts: impl Fn(&Gap) -> bool,
    ) -> Option<&Gap> {
        self.gaps
            .iter()
            .find(|gap| concerns(&gap.kinds, of) && gap.from < to && from < gap.to && counts(gap))
    }

    /// How much of the time between two instants was not watched live. Interruptions of several kinds may overlap.
    pub(crate) fn unseen(&self, of: &[&str], from: Timestamp, to: Timestamp) -> SignedDuration {
        let mut parts: Vec<(Timestamp, Timestamp)> = self
            .interruptions
            .iter()
            .filter(|interruption| concerns(&interruption.kinds, of))
            .map(|interruption| {
                (
                    interruption.from.max(from),
                    interruption.to.unwrap_or(to).min(to),
                )
            })
            .collect();
        parts.sort_unstable();
        let mut counted = from;
        let mut sum = SignedDuration::ZERO;
        for (begin, end) in parts {
            let begin = begin.max(counted);
            if begin < end {
                sum = sum.saturating_add(end.duration_since(begin));
                counted = end;
            }
        }
        sum
    }

    /// When everything that happened up to `at` had been delivered: then itself, later when the watch was interrupted and came
    /// back, never (none) while it still is.
    pub(crate) fn delivered(&self, of: &[&str], at: Timestamp) -> Option<Timestamp> {
        self.interruptions
            .iter()
            .filter(|interruption| concerns(&interruption.kinds, of) && interruption.from <= at)
            .try_fold(at, |latest, interruption| {
                Some(latest.max(interruption.to?))
            })
    }

    /// An interruption of these kinds goes on: nothing can be concluded from silence.
    pub(crate) fn interrupted(&self, of: &[&str]) -> bool {
        self.interruptions
            .iter()
            .any(|interruption| interruption.to.is_none() && concerns(&interruption.kinds, of))
    }
}
