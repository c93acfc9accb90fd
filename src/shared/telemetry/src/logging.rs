//! The process's log: level and form from options with the names operators of the reference know
//! (`--zap-log-level`, `--zap-encoder`). Lines go to standard error.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

/// How a log line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoder {
    /// For people.
    #[default]
    Console,
    /// One JSON object a line.
    Json,
}

/// Why the log could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The level is not one of those known.
    #[error("log level {0:?} is unknown: use debug, info, warn, error, panic or a number above 0")]
    Level(String),
    /// The encoder is not one of those known.
    #[error("log encoder {0:?} is unknown: use json or console")]
    Encoder(String),
    /// Another log is already in place.
    #[error("the log was set up twice")]
    Installed,
}

/// Reads a level as zap does: a word, or a number that raises verbosity.
pub fn parse_level(text: &str) -> Result<LevelFilter, LogError> {
    let wrong = || LogError::Level(text.to_owned());
    Ok(match text {
        "error" | "panic" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        number => match number.parse::<u8>().map_err(|_| wrong())? {
            0 => return Err(wrong()),
            1 | 2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        },
    })
}

/// Reads an encoder's name.
pub fn parse_encoder(text: &str) -> Result<Encoder, LogError> {
    match text {
        "json" => Ok(Encoder::Json),
        "console" => Ok(Encoder::Console),
        other => Err(LogError::Encoder(other.to_owned())),
    }
}

/// Installs the log of this process. `rooms` are the crates whose level is `level`; everything else only warns.
pub fn install(level: LevelFilter, encoder: Encoder, rooms: &[&str]) -> Result<(), LogError> {
    let outside = level.min(LevelFilter::WARN);
    let directives = rooms.iter().fold(outside.to_string(), |all, room| {
        format!("{all},{room}={level}")
    });
    let filter = EnvFilter::try_new(directives).map_err(|_| LogError::Level(level.to_string()))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // It would be told on standard error, and panic where nobody reads that any more.
        .log_internal_errors(false)
        .with_ansi(false);
    match encoder {
        Encoder::Json => lines.json().flatten_event(true).finish().try_init(),
        Encoder::Console => lines.finish().try_init(),
    }
    .map_err(|_| LogError::Installed)
}
