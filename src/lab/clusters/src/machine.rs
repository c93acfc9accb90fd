//! What the kernel says of this machine, in single figures. What cannot be read is nothing; whoever asks says what that means.

use std::fs;

/// Memory that new programs may take, in MiB.
#[must_use]
pub fn free_memory_mib() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

/// A limit that is a file of one number, as below `/proc/sys`.
#[must_use]
pub fn number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
