//! The images that the host node knows: which local program stands for each, and what is in it.

use std::path::PathBuf;

/// Repositories of the images that are sent to the host node, whatever their tag.
pub const KNOWN_IMAGES: [&str; 1] = ["atelier-kueue/kueue-manager"];

/// A program of this machine that stands for a container image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Repository without tag, one of [`KNOWN_IMAGES`].
    pub repository: String,
    /// The program on this machine.
    pub binary: PathBuf,
    /// Where it is in the container; the only program there, and what runs when the pod names no command.
    pub inside: String,
}

impl Image {
    /// The controller's image.
    #[must_use]
    pub fn kueue_manager(binary: PathBuf) -> Self {
        Self {
            repository: "atelier-kueue/kueue-manager".to_owned(),
            binary,
            inside: "/manager".to_owned(),
        }
    }
}

/// The image a container asks for; the tag (or digest) does not matter, there is one of each.
pub(super) fn find<'a>(images: &'a [Image], name: &str) -> Option<&'a Image> {
    let repository = name
        .split_once('@')
        .map_or(name, |(repository, _)| repository);
    // A colon after the last slash begins a tag; before it, it belongs to a registry's port.
    let repository = match repository.rsplit_once(':') {
        Some((before, tag)) if !tag.contains('/') => before,
        _ => repository,
    };
    images.iter().find(|image| image.repository == repository)
}

/// The images as words.
pub(super) fn in_words(images: &[Image]) -> String {
    images
        .iter()
        .map(|image| format!("{}:*", image.repository))
        .collect::<Vec<_>>()
        .join(", ")
}
