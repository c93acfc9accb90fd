//! Downloads from a local server, good and bad.

use std::fs;

use expect_test::expect;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::server::{Answer, Server};
use super::{obtain, options, place, program, sources};
use crate::tools::catalog::arch;
use crate::tools::{Hashes, Options, Source, Step, Tool, ToolsError, obtain_all};

/// A release of a program as its publisher packs it.
fn release(tool: Tool) -> Vec<u8> {
    let text = program(tool, tool.version());
    let inner = match tool {
        Tool::Etcd => format!("etcd-v3.7.3-linux-{}/etcd", arch()),
        Tool::Helm => format!("linux-{}/helm", arch()),
        _ => return text.into_bytes(),
    };
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    let mut header = tar::Header::new_gnu();
    header.set_size(u64::try_from(text.len()).unwrap());
    header.set_mode(0o755);
    archive
        .append_data(&mut header, inner, text.as_bytes())
        .unwrap();
    archive.into_inner().unwrap().finish().unwrap()
}

fn hashes(of: impl Fn(Tool) -> Vec<u8>) -> Hashes {
    let lines = Tool::ALL.map(|tool| {
        format!(
            "{}  {}\n",
            hex::encode(Sha256::digest(of(tool))),
            tool.artifact(arch()).name
        )
    });
    Hashes::parse("test", &lines.concat()).unwrap()
}

fn origin(tool: Tool) -> String {
    format!("/{}", tool.artifact(arch()).origin)
}

#[tokio::test]
async fn downloads_checks_unpacks_and_keeps_each_program() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(
        Tool::ALL
            .map(|tool| (origin(tool), Answer::Body(release(tool))))
            .into(),
    )
    .await;
    let options = Options {
        download: true,
        mirror: Some(server.url()),
        hashes: hashes(release),
        ..options(root.path())
    };
    let (tools, steps) = obtain(&options).await;
    let tools = tools.unwrap();
    assert!(
        sources(&steps)
            .iter()
            .all(|(_, source)| *source == Source::Download)
    );
    assert!(steps.iter().any(
        |progress| matches!(progress.step, Step::Downloading { bytes, of: Some(of) } if bytes == of)
    ));
    assert_eq!(
        fs::read_to_string(tools.helm).unwrap(),
        program(Tool::Helm, "4.3.1")
    );
    let (_, steps) = obtain(&options).await;
    assert!(
        sources(&steps)
            .iter()
            .all(|(_, source)| *source == Source::Cache)
    );
    assert!(!options.cache.join("being-made").exists());
}

/// What a download that goes wrong says; nothing may be left in the cache.
async fn refusal(answer: Answer, others: Vec<(String, Answer)>) -> String {
    let root = tempfile::tempdir().unwrap();
    let mut answers = others;
    answers.push((origin(Tool::Etcd), answer));
    let server = Server::start(answers).await;
    let options = Options {
        download: true,
        mirror: Some(server.url()),
        hashes: hashes(release),
        ..options(root.path())
    };
    let Err(ToolsError::NotToBeHad {
        tool: Tool::Etcd,
        reasons,
    }) = obtain(&options).await.0
    else {
        panic!("etcd must not be had");
    };
    assert!(
        !options.cache.join("etcd-3.7.3").exists() && !options.cache.join("being-made").exists()
    );
    let (_, reason) = reasons
        .into_iter()
        .find(|(source, _)| *source == Source::Download)
        .unwrap();
    reason.replace(&server.url(), "URL").replace(arch(), "ARCH")
}

#[tokio::test]
async fn a_wrong_checksum_is_refused() {
    let found = hex::encode(Sha256::digest(b"something else"));
    let found = format!("is not what was published: its SHA-256 is {found}");
    let reason = refusal(Answer::Body(b"something else".to_vec()), vec![]).await;
    assert!(reason.contains(&found), "{reason}");
}

#[tokio::test]
async fn a_truncated_file_is_refused() {
    let reason = refusal(Answer::Truncated(release(Tool::Etcd), 100), vec![]).await;
    assert!(reason.contains("it broke off after"), "{reason}");
}

#[tokio::test]
async fn an_error_of_the_server_is_told() {
    expect!["URL/github.com/etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-linux-ARCH.tar.gz: the server answers 404 Not Found"]
        .assert_eq(&refusal(Answer::Status(404), vec![]).await);
}

#[tokio::test]
async fn endless_redirects_are_refused() {
    let reason = refusal(Answer::Redirect(origin(Tool::Etcd)), vec![]).await;
    assert!(reason.ends_with("more than 6 redirects"), "{reason}");
}

#[tokio::test]
async fn a_redirect_is_followed_and_the_hash_still_counts() {
    let elsewhere = vec![("/elsewhere".to_owned(), Answer::Body(b"not it".to_vec()))];
    let reason = refusal(Answer::Redirect("/elsewhere".to_owned()), elsewhere).await;
    assert!(reason.contains("is not what was published"), "{reason}");
}

#[tokio::test]
async fn a_redirected_download_works() {
    let root = tempfile::tempdir().unwrap();
    let mut answers: Vec<_> = Tool::ALL
        .map(|tool| {
            (
                format!("/there{}", origin(tool)),
                Answer::Body(release(tool)),
            )
        })
        .into();
    answers.extend(Tool::ALL.map(|tool| {
        (
            origin(tool),
            Answer::Redirect(format!("/there{}", origin(tool))),
        )
    }));
    let server = Server::start(answers).await;
    let options = Options {
        download: true,
        mirror: Some(server.url()),
        hashes: hashes(release),
        ..options(root.path())
    };
    obtain(&options).await.0.unwrap();
}

#[tokio::test]
async fn a_refused_connection_is_told() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(vec![]).await;
    let url = server.url();
    server.stop().await;
    let options = Options {
        download: true,
        mirror: Some(url),
        hashes: hashes(release),
        ..options(root.path())
    };
    let error = obtain(&options).await.0.unwrap_err().to_string();
    assert!(error.contains("Connection refused"), "{error}");
}

#[tokio::test]
async fn what_a_killed_process_left_half_made_is_not_taken_for_a_program() {
    let root = tempfile::tempdir().unwrap();
    let left = root.path().join("cache/being-made/download");
    place(&left, "half of it");
    let server = Server::start(
        Tool::ALL
            .map(|tool| (origin(tool), Answer::Body(release(tool))))
            .into(),
    )
    .await;
    let options = Options {
        download: true,
        mirror: Some(server.url()),
        hashes: hashes(release),
        ..options(root.path())
    };
    obtain(&options).await.0.unwrap();
    assert!(!left.exists());
}

#[tokio::test]
async fn cancelling_leaves_nothing_half_made() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(vec![(origin(Tool::Etcd), Answer::Never)]).await;
    let options = Options {
        download: true,
        mirror: Some(server.url()),
        hashes: hashes(release),
        ..options(root.path())
    };
    let cancel = CancellationToken::new();
    let result = obtain_all(&options, &cancel, &|progress| {
        if matches!(progress.step, Step::Downloading { .. }) {
            cancel.cancel();
        }
    })
    .await;
    assert!(matches!(result, Err(ToolsError::Cancelled)));
    assert!(
        !options.cache.join("being-made").exists() && !options.cache.join("etcd-3.7.3").exists()
    );
}
