use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::{DaemonError, Settings, run, visible};
use crate::inventory::Folders;
use crate::measure::Places;

const PATIENCE: Duration = Duration::from_secs(20);

fn config(unhealthy: &str) -> String {
    format!(
        r#"{{"nodes": {{"gpu-1": {{"model": "v100-sxm2-32gb", "count": 2, "unhealthy": [{unhealthy}]}}}}}}"#
    )
}

/// The daemon of node `gpu-1` in folders of its own, without a kubelet.
fn settings(temp: &tempfile::TempDir, node: &str) -> Settings {
    let at = |name: &str| -> PathBuf { temp.path().join(name) };
    for folder in ["plugins", "config", "proc"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    fs::write(at("config/config.json"), config("")).unwrap();
    fs::write(at("smi"), "the program").unwrap();
    Settings {
        node: node.to_owned(),
        config: at("config/config.json"),
        kubelet: at("plugins"),
        places: Places {
            proc: at("proc"),
            cgroups: at("cgroup"),
            pod_resources: at("no.sock"),
            folders: Folders::new(at("gpu")),
        },
        smi: at("smi"),
        wall: || SystemTime::UNIX_EPOCH,
    }
}

async fn get(address: std::net::SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

async fn page_with(address: std::net::SocketAddr, what: &str) -> String {
    let seen = async {
        loop {
            let page = get(address).await;
            if page.contains(what) {
                return page;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, seen)
        .await
        .unwrap_or_else(|_| panic!("no {what} on the page"))
}

#[tokio::test]
async fn shows_its_devices_and_follows_the_configuration() {
    let temp = tempfile::tempdir().unwrap();
    let settings = settings(&temp, "gpu-1");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let cancel = CancellationToken::new();
    let daemon = tokio::spawn(run(settings.clone(), listener, cancel.clone()));

    let page = page_with(address, "DCGM_FI_DEV_XID_ERRORS{").await;
    assert!(!page.contains("} 79"), "{page}");
    let folders = fs::read_dir(settings.places.folders.root().join("devices")).unwrap();
    assert_eq!(folders.count(), 2);
    let smi = fs::read_to_string(settings.places.folders.smi()).unwrap();
    assert_eq!(smi, "the program");

    // A file with a mistake changes nothing; the next one that has none does. ConfigMaps are replaced, as here.
    for text in ["{", &config("1")] {
        let new = temp.path().join("config/new");
        fs::write(&new, text).unwrap();
        fs::rename(&new, &settings.config).unwrap();
    }
    page_with(address, "} 79").await;
    let seen = visible(&settings.places.folders.root().join("devices")).unwrap();
    assert_eq!(seen.iter().filter(|reading| !reading.healthy).count(), 1);
    assert_eq!(
        seen.iter().map(|reading| reading.index).collect::<Vec<_>>(),
        [0, 1]
    );

    cancel.cancel();
    daemon.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_node_without_devices_says_so() {
    let temp = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let outcome = run(settings(&temp, "cpu-1"), listener, CancellationToken::new()).await;
    assert!(matches!(outcome, Err(DaemonError::NoSuchNode(node)) if node == "cpu-1"));
}
