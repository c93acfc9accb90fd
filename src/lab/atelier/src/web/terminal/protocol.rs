//! The frames between a page and its terminal: one kind byte, then big-endian numbers, raw bytes or JSON.
//!
//! Output carries its position and input its number, so that after a lost connection each byte is shown once and each
//! key is typed once. `static/src/terminal/frames.ts` is the other end.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// The longest input frame that is accepted.
pub const INPUT_LIMIT: usize = 16 * 1024;

/// What a page sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromPage {
    Hello(Hello),
    /// Keys, numbered from 1 by the page.
    Input {
        id: u64,
        bytes: Vec<u8>,
    },
    /// Everything before this position has been drawn.
    Drawn(u64),
    Resize {
        cols: u16,
        rows: u16,
    },
    Ping(u64),
}

/// The first frame of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The form token: an address alone must not open a terminal.
    pub token: String,
    /// A random name of this page, under which its inputs are numbered.
    pub page: String,
    /// The shell that the page has shown before, if any.
    #[serde(default)]
    pub shell: Option<String>,
    /// How much of that shell's output it has.
    #[serde(default)]
    pub received: u64,
    pub cols: u16,
    pub rows: u16,
}

/// What the server sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToPage {
    Welcome(Welcome),
    Output {
        at: u64,
        bytes: Vec<u8>,
    },
    /// Inputs up to this number were typed.
    Typed(u64),
    Pong(u64),
    /// Output between these positions is lost.
    Gap {
        from: u64,
        to: u64,
    },
    /// Not output, but what restores the terminal's modes after cut output.
    Restore(Vec<u8>),
    Ended(Ended),
    Refused(Refused),
}

/// The answer to [`Hello`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub shell: String,
    /// Where the following output begins.
    pub from: u64,
    /// Where the output ends that was printed before this page came: answers to queries in it are not wanted again.
    pub end: u64,
    /// The last input of this page that was typed.
    pub typed: u64,
    /// When the shell was started, in seconds since 1970.
    pub started: i64,
}

/// The shell ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit code, when it was not killed.
    pub code: Option<i32>,
    /// Why the server ended it (`environment-reset`, `shutdown`), if it did.
    pub reason: Option<String>,
}

/// The connection cannot be served; the page must not retry by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub reason: String,
}

/// A frame that follows no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a terminal frame: {0}")]
pub struct FrameError(&'static str);

impl FromPage {
    /// Reads a frame.
    ///
    /// # Errors
    /// When it is of no known form.
    pub fn decode(frame: &[u8]) -> Result<Self, FrameError> {
        let (kind, body) = frame.split_first().ok_or(FrameError("it is empty"))?;
        match kind {
            1 => serde_json::from_slice(body)
                .map(Self::Hello)
                .map_err(|_| FrameError("the greeting is malformed")),
            2 => {
                let (id, bytes) = number(body)?;
                if bytes.len() > INPUT_LIMIT {
                    return Err(FrameError("the input is too long"));
                }
                Ok(Self::Input {
                    id,
                    bytes: bytes.to_vec(),
                })
            }
            3 => Ok(Self::Drawn(only_number(body)?)),
            4 => match *body {
                [c1, c0, r1, r0] => Ok(Self::Resize {
                    cols: u16::from_be_bytes([c1, c0]),
                    rows: u16::from_be_bytes([r1, r0]),
                }),
                _ => Err(FrameError("a size has four bytes")),
            },
            5 => Ok(Self::Ping(only_number(body)?)),
            _ => Err(FrameError("its kind is unknown")),
        }
    }

    /// Writes a frame, as pages do.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => json(1, hello),
            Self::Input { id, bytes } => join(2, &[&id.to_be_bytes(), bytes]),
            Self::Drawn(at) => join(3, &[&at.to_be_bytes()]),
            Self::Resize { cols, rows } => join(4, &[&cols.to_be_bytes(), &rows.to_be_bytes()]),
            Self::Ping(number) => join(5, &[&number.to_be_bytes()]),
        }
    }
}

impl ToPage {
    /// Writes a frame.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Welcome(welcome) => json(17, welcome),
            Self::Output { at, bytes } => join(18, &[&at.to_be_bytes(), bytes]),
            Self::Typed(id) => join(19, &[&id.to_be_bytes()]),
            Self::Pong(number) => join(21, &[&number.to_be_bytes()]),
            Self::Gap { from, to } => join(22, &[&from.to_be_bytes(), &to.to_be_bytes()]),
            Self::Restore(bytes) => join(23, &[bytes]),
            Self::Ended(ended) => json(24, ended),
            Self::Refused(refused) => json(25, refused),
        }
    }
}

fn number(body: &[u8]) -> Result<(u64, &[u8]), FrameError> {
    let (head, rest) = body
        .split_first_chunk::<8>()
        .ok_or(FrameError("a number has eight bytes"))?;
    Ok((u64::from_be_bytes(*head), rest))
}

fn only_number(body: &[u8]) -> Result<u64, FrameError> {
    match number(body)? {
        (number, []) => Ok(number),
        _ => Err(FrameError("bytes follow the number")),
    }
}

fn join(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    std::iter::once(kind)
        .chain(parts.iter().flat_map(|part| part.iter().copied()))
        .collect()
}

fn json(kind: u8, value: &impl Serialize) -> Vec<u8> {
    // These structs hold only strings and numbers, so that writing them cannot fail.
    join(kind, &[&serde_json::to_vec(value).unwrap_or_default()])
}
