//! Unix sockets whose path is longer than the 107 bytes the system call takes.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// What `sockaddr_un` holds, less the closing zero.
const LONGEST: usize = 107;

/// A path to the same place that is short enough to bind or connect to, valid while the second value lives.
pub fn short_path(path: &Path) -> io::Result<(PathBuf, Option<OwnedFd>)> {
    if path.as_os_str().len() <= LONGEST {
        return Ok((path.to_owned(), None));
    }
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a socket needs a folder and a name",
        ));
    };
    let dir = OwnedFd::from(File::open(dir)?);
    Ok((
        PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd())).join(name),
        Some(dir),
    ))
}
