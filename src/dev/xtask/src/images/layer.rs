//! One layer: a tar file written entry by entry, the same for the same content whenever and by whomever it is built.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

/// Folders that are links in a Debian of today, and where they lead.
const MERGED: [&str; 4] = ["bin", "sbin", "lib", "lib64"];

/// Counts and hashes what passes.
#[derive(Debug)]
pub(super) struct Hashing<W> {
    inner: W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.hash.update(buffer.get(..written).unwrap_or_default());
        self.bytes += u64::try_from(written).unwrap_or_default();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A layer that is being written.
pub(super) struct Layer<W: Write> {
    tar: Builder<Hashing<W>>,
    /// Paths that are there already: packages name the same folders again and again.
    seen: BTreeSet<String>,
    drop: Vec<String>,
}

impl<W: Write> Layer<W> {
    pub(super) fn new(out: W) -> Self {
        let out = Hashing {
            inner: out,
            hash: Sha256::new(),
            bytes: 0,
        };
        Self {
            tar: Builder::new(out),
            seen: BTreeSet::new(),
            drop: Vec::new(),
        }
    }

    /// Leaves out what matches from now on; `*` stands for anything.
    pub(super) fn leave_out(&mut self, patterns: Vec<String>) {
        self.drop = patterns;
    }

    /// The links that make `/bin` a name of `/usr/bin`.
    pub(super) fn merged_root(&mut self) -> anyhow::Result<()> {
        for name in MERGED {
            self.folder(&format!("usr/{name}"), 0o755, 0)?;
            self.link(name, &format!("usr/{name}"))?;
        }
        Ok(())
    }

    pub(super) fn file(&mut self, path: &str, mode: u32, data: &[u8]) -> anyhow::Result<()> {
        self.parents(path)?;
        let size = u64::try_from(data.len())?;
        self.add(path, header(EntryType::Regular, mode, 0, size), data)
    }

    /// A file of this machine, which may be large.
    pub(super) fn file_from(&mut self, path: &str, mode: u32, from: &Path) -> anyhow::Result<()> {
        self.parents(path)?;
        let file = std::fs::File::open(from)
            .with_context(|| format!("{} cannot be read", from.display()))?;
        let size = file.metadata()?.len();
        self.add(path, header(EntryType::Regular, mode, 0, size), file)
    }

    pub(super) fn folder(&mut self, path: &str, mode: u32, owner: u64) -> anyhow::Result<()> {
        self.parents(path)?;
        self.add(
            path,
            header(EntryType::Directory, mode, owner, 0),
            io::empty(),
        )
    }

    pub(super) fn link(&mut self, path: &str, target: &str) -> anyhow::Result<()> {
        self.parents(path)?;
        if !self.seen.insert(path.to_owned()) {
            return Ok(());
        }
        let mut header = header(EntryType::Symlink, 0o777, 0, 0);
        self.tar.append_link(&mut header, path, target)?;
        Ok(())
    }

    /// Everything in the payload of a Debian package, with its owners and times. Files of `certificates` are handed over as well.
    pub(super) fn package(
        &mut self,
        payload: impl Read,
        certificates: &mut Vec<u8>,
    ) -> anyhow::Result<()> {
        let mut archive = tar::Archive::new(payload);
        for entry in archive.entries()? {
            let mut entry = entry?;
            let path = entry.path()?.to_string_lossy().into_owned();
            let path = merged(path.trim_start_matches("./").trim_end_matches('/'));
            if path.is_empty() || MERGED.contains(&path.as_str()) || self.is_left_out(&path) {
                continue;
            }
            let mut header = entry.header().clone();
            let target = entry
                .link_name()?
                .map(|name| name.to_string_lossy().into_owned());
            match (header.entry_type(), target) {
                (EntryType::Symlink, Some(target)) => {
                    if self.seen.insert(path.clone()) {
                        self.tar.append_link(&mut header, &path, target)?;
                    }
                }
                (EntryType::Link, Some(target)) => {
                    let target = merged(target.trim_start_matches("./"));
                    if self.seen.insert(path.clone()) {
                        self.tar.append_link(&mut header, &path, target)?;
                    }
                }
                (EntryType::Regular, _) if path.starts_with("usr/share/ca-certificates/") => {
                    let mut data = Vec::new();
                    entry.read_to_end(&mut data)?;
                    certificates.extend_from_slice(&data);
                    self.add(&path, header, data.as_slice())?;
                }
                _ => self.add(&path, header, entry)?,
            }
        }
        Ok(())
    }

    /// The layer's hash and size.
    pub(super) fn finish(self) -> anyhow::Result<(String, u64)> {
        let mut out = self.tar.into_inner()?;
        out.flush()?;
        Ok((hex::encode(out.hash.finalize()), out.bytes))
    }

    fn add(&mut self, path: &str, mut header: Header, data: impl Read) -> anyhow::Result<()> {
        if !self.seen.insert(path.to_owned()) {
            if header.entry_type() == EntryType::Directory {
                return Ok(());
            }
            bail!("two parts of a layer bring /{path}");
        }
        self.tar.append_data(&mut header, path, data)?;
        Ok(())
    }

    fn parents(&mut self, path: &str) -> anyhow::Result<()> {
        let Some((parent, _)) = path.rsplit_once('/') else {
            return Ok(());
        };
        if self.seen.contains(parent) {
            return Ok(());
        }
        self.folder(parent, 0o755, 0)
    }

    fn is_left_out(&self, path: &str) -> bool {
        self.drop.iter().any(|pattern| matches(pattern, path))
    }
}

/// Ours: owned by a number, dated at the beginning of time, so that the same content has the same hash.
fn header(kind: EntryType, mode: u32, owner: u64, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(owner);
    header.set_gid(owner);
    header.set_mtime(0);
    header.set_size(size);
    header
}

/// A path of a package in a root whose `/bin` is `/usr/bin`.
fn merged(path: &str) -> String {
    let first = path.split('/').next().unwrap_or(path);
    if MERGED.contains(&first) && path.contains('/') {
        return format!("usr/{path}");
    }
    path.to_owned()
}

/// Whether a path is what a pattern says, or below it where the pattern ends in `/*`.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    for part in parts {
        if part.is_empty() {
            return true;
        }
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests;
