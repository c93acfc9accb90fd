//! Waits for something to change in a folder, by inotify: the kubelet's sockets come and go, and a mounted `ConfigMap` is replaced
//! as a whole. What changed is for the caller to look up; two changes may be told as one.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::io::unix::AsyncFd;

/// A watched folder.
#[derive(Debug)]
pub struct FolderWatch {
    events: AsyncFd<OwnedFd>,
}

impl FolderWatch {
    /// Watches `folder` from now on. Must be called before the first look at it, or a change between the two goes unnoticed.
    ///
    /// # Errors
    /// When the folder is not there, or no more watches may be had (`fs.inotify.max_user_watches`).
    pub fn new(folder: &Path) -> io::Result<Self> {
        let fd = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let changes = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        inotify::add_watch(&fd, folder, changes)?;
        #[expect(
            deprecated,
            reason = "its successor is `unsafe`, which this house forbids; an OwnedFd that is never replaced meets its contract"
        )]
        let events = AsyncFd::new(fd)?;
        Ok(Self { events })
    }

    /// Returns once something changed since the last call.
    ///
    /// # Errors
    /// When the kernel's queue cannot be read.
    pub async fn changed(&self) -> io::Result<()> {
        let mut buffer = [0_u8; 4096];
        loop {
            let mut ready = self.events.readable().await?;
            match ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut buffer)?)) {
                Ok(read) => return read.map(drop),
                Err(_would_block) => {}
            }
        }
    }
}
