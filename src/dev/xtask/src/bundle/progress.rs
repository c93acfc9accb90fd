//! How far a long copy is: a line for every twentieth of it, with the file it is at.

use std::io::{self, Read};

/// A line for each of these shares of the whole.
const STEPS: u64 = 20;

/// Counts bytes as they pass.
pub(super) struct Counter<'a> {
    act: &'static str,
    total: u64,
    passed: u64,
    steps: u64,
    at: String,
    told: &'a mut dyn FnMut(&str),
}

impl<'a> Counter<'a> {
    pub(super) fn new(act: &'static str, total: u64, told: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            act,
            total,
            passed: 0,
            steps: 0,
            at: String::new(),
            told,
        }
    }

    /// The file whose bytes come next.
    pub(super) fn now(&mut self, path: &str) {
        path.clone_into(&mut self.at);
    }

    pub(super) fn reader<R: Read>(&mut self, from: R) -> impl Read + use<'_, 'a, R> {
        Counted {
            from,
            counter: self,
        }
    }

    fn pass(&mut self, bytes: u64) {
        self.passed += bytes;
        let steps = self.passed * STEPS / self.total.max(1);
        if steps > self.steps {
            self.steps = steps;
            let (percent, act, at) = (steps * 100 / STEPS, self.act, &self.at);
            let (passed, total) = (self.passed / 1_000_000, self.total / 1_000_000);
            (self.told)(&format!(
                "   {percent:>3} %  {act} {passed} of {total} MB  {at}"
            ));
        }
    }
}

struct Counted<'a, 'b, R> {
    from: R,
    counter: &'a mut Counter<'b>,
}

impl<R: Read> Read for Counted<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.counter.pass(u64::try_from(read).unwrap_or_default());
        Ok(read)
    }
}
