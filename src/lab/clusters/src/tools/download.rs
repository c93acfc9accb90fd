//! Fetches a release, checks its hash while it comes, and takes the program out of its archive.

mod client;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use http_body_util::BodyExt;
use sha2::{Digest, Sha256};

use super::catalog::{Artifact, Packing, arch};
use super::{Options, Tool};

/// Why a release was not downloaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum DownloadError {
    #[error(
        "no SHA-256 is pinned for {0}, and nothing is downloaded without one (add it to images/control-plane/SHA256SUMS or give --hashes)"
    )]
    NoHash(String),
    #[error("{url}: {reason}")]
    Fetch { url: String, reason: String },
    #[error("{url} is not what was published: its SHA-256 is {found}, {expected} was expected")]
    WrongHash {
        url: String,
        found: String,
        expected: String,
    },
    #[error("write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("unpack {artifact}: {reason}")]
    Unpack { artifact: String, reason: String },
}

/// Leaves the program in `folder` and answers its path. `progress` hears bytes so far and in all.
pub(super) async fn download(
    tool: Tool,
    options: &Options,
    folder: &Path,
    mut progress: impl FnMut(u64, Option<u64>),
) -> Result<PathBuf, DownloadError> {
    let artifact = tool.artifact(arch());
    let expected = options
        .hashes
        .of(&artifact.name)
        .ok_or_else(|| DownloadError::NoHash(artifact.name.clone()))?;
    let url = match &options.mirror {
        Some(mirror) => format!("{}/{}", mirror.trim_end_matches('/'), artifact.origin),
        None => format!("https://{}", artifact.origin),
    };
    let file = folder.join("download");
    let found = fetch(&url, &file, &mut progress).await?;
    if found != expected {
        return Err(DownloadError::WrongHash {
            url,
            found,
            expected: expected.to_owned(),
        });
    }
    unpack(&artifact, file, folder)
}

/// Writes what is at `url` into `file` and answers its hash.
async fn fetch(
    url: &str,
    file: &Path,
    progress: &mut impl FnMut(u64, Option<u64>),
) -> Result<String, DownloadError> {
    let failed = |reason: String| DownloadError::Fetch {
        url: url.to_owned(),
        reason,
    };
    let not_written = |source| DownloadError::Write {
        path: file.to_owned(),
        source,
    };
    let (mut body, length) = client::get(url).await.map_err(failed)?;
    let mut out = File::create(file).map_err(not_written)?;
    let mut hash = Sha256::new();
    let mut bytes = 0;
    progress(0, length);
    while let Some(frame) = client::patiently(body.frame()).await.map_err(failed)? {
        let frame = frame.map_err(|error| {
            failed(format!(
                "it broke off after {bytes} bytes: {}",
                client::chain(&error)
            ))
        })?;
        if let Ok(data) = frame.into_data() {
            hash.update(&data);
            out.write_all(&data).map_err(not_written)?;
            bytes += u64::try_from(data.len()).unwrap_or_default();
            progress(bytes, length);
        }
    }
    if let Some(length) = length.filter(|length| *length != bytes) {
        return Err(failed(format!(
            "it broke off after {bytes} of {length} bytes"
        )));
    }
    Ok(hex::encode(hash.finalize()))
}

fn unpack(artifact: &Artifact, file: PathBuf, folder: &Path) -> Result<PathBuf, DownloadError> {
    let Packing::TarGz(wanted) = &artifact.packing else {
        return Ok(file);
    };
    let failed = |reason: String| DownloadError::Unpack {
        artifact: artifact.name.clone(),
        reason,
    };
    let archive = File::open(&file).map_err(|error| failed(error.to_string()))?;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    for entry in archive
        .entries()
        .map_err(|error| failed(error.to_string()))?
    {
        let mut entry = entry.map_err(|error| failed(error.to_string()))?;
        if entry.path().is_ok_and(|path| path == Path::new(wanted)) {
            let program = folder.join("program");
            let mut out = File::create(&program).map_err(|error| failed(error.to_string()))?;
            io::copy(&mut entry, &mut out).map_err(|error| failed(error.to_string()))?;
            return Ok(program);
        }
    }
    Err(failed(format!("it holds no {wanted}")))
}
