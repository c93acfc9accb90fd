//! Where the supervisor's own warnings go: a file beside its programs' logs, turned over as theirs are.
//!
//! It is not the file of its standard error, which holds the last words of a supervisor that could not go on.

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use exec::RotatingLog;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// Writes from now on what is at least as grave as `level`. Where a program has a subscriber already, that one stays.
pub(super) fn begin(path: PathBuf, level: LevelFilter) {
    let _ = tracing::subscriber::set_global_default(journal(path, level));
}

/// The client reports every request that failed as an error, also those that only ask whether a server is there yet.
/// Whoever asked says what matters.
const TOO_LOUD: &str = "kube_client::client::builder";

fn journal(path: PathBuf, level: LevelFilter) -> impl Subscriber + Send + Sync {
    let heard = Targets::new()
        .with_default(level)
        .with_target(TOO_LOUD, LevelFilter::OFF);
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_writer(Journal(Mutex::new(RotatingLog::new(path))))
        .finish()
        .with(heard)
}

struct Journal(Mutex<RotatingLog>);

/// One line; the formatter hands each over whole.
struct Line<'a>(&'a Journal);

impl<'a> MakeWriter<'a> for Journal {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

impl io::Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
