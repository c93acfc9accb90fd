//! What is in each image. A recipe is a table: layers from the most stable to the most often changed, so that a new build of our own
//! programs leaves the large layers as they are.

mod cluster;
mod layers;
mod people;

use cluster::{GPU, MANAGER, NODE, OPERATOR};
use people::{SMALL, TRAINER, WORKSTATION};

/// An image.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) make: Make,
    pub(super) settings: Settings,
}

/// How an image is made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Make {
    Layers(&'static [&'static [Part]]),
    /// A program of the tree that writes the archive it is given the path of, and what that program reads.
    Script {
        program: &'static str,
        inputs: &'static [&'static str],
        /// Images that it packs into its own, those of them that were built: their archives follow the path.
        within: &'static [&'static str],
    },
}

/// What the image says of itself.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) user: &'static str,
    pub(super) folder: &'static str,
    pub(super) entrypoint: &'static [&'static str],
    pub(super) command: &'static [&'static str],
    pub(super) env: &'static [&'static str],
}

/// A piece of a layer.
#[derive(Debug)]
pub(super) enum Part {
    Debian(Debian),
    /// A binary of the workspace, linked statically.
    Program {
        package: &'static str,
        binary: &'static str,
        to: &'static str,
        profile: Profile,
    },
    /// A program obtained by `atelier tools`.
    Tool {
        name: &'static str,
        to: &'static str,
    },
    /// A program of a pinned Go module below `images/`.
    Go {
        module: &'static str,
        package: &'static str,
        to: &'static str,
    },
    /// A file or folder of the tree.
    Copy {
        from: &'static str,
        to: &'static str,
    },
    Text {
        to: &'static str,
        mode: u32,
        text: &'static str,
    },
    Link {
        to: &'static str,
        target: &'static str,
    },
    Folder {
        to: &'static str,
        mode: u32,
        owner: u64,
    },
    /// Empty libraries in the place of some that a program names but never calls.
    Empty {
        libraries: &'static [&'static str],
    },
    /// Python's compiled modules, for a root that cannot be written to.
    Compiled {
        folders: &'static [&'static str],
    },
}

/// How a program of the workspace is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// As for daily work, so that nothing is compiled for the image alone.
    Daily,
    /// As it is delivered: its size and its speed are looked at.
    Release,
}

/// Packages and what they need.
#[derive(Debug)]
pub(super) struct Debian {
    pub(super) packages: &'static [&'static str],
    /// Taken for installed: they are in a lower layer, or nothing of them is used.
    pub(super) without: &'static [&'static str],
    /// The packages of a lower layer, which are there already.
    pub(super) on: Option<&'static Self>,
    /// Paths that are left out beside documentation and translations; `*` stands for anything.
    pub(super) drop: &'static [&'static str],
}

impl Recipe {
    /// The names under which the image is used.
    pub(super) fn tags(&self) -> [String; 2] {
        let name = self.name;
        let tag = |version: &str| format!("atelier-kueue/{name}:{version}");
        [tag("dev"), tag(env!("CARGO_PKG_VERSION"))]
    }
}

/// Every image, those that build fastest first.
pub(super) const ALL: &[Recipe] = &[SMALL, WORKSTATION, TRAINER, GPU, MANAGER, OPERATOR, NODE];
