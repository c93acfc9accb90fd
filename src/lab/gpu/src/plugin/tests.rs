//! The plugin against a kubelet that speaks the real protocol over real sockets.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::uri::PathAndQuery;
use tokio::net::UnixListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::{Request, Streaming};
use tonic_prost::ProstCodec;

use super::{ENDPOINT, KUBELET, Plugin, rpc};
use crate::config::NodeGpus;
use crate::inventory::{Folders, Inventory};
use crate::{model, wire};

/// Ends a test that hangs; nothing waits for it otherwise.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone)]
struct Registration(mpsc::UnboundedSender<wire::RegisterRequest>);

impl NamedService for Registration {
    const NAME: &'static str = "v1beta1.Registration";
}

impl tower::Service<http::Request<Body>> for Registration {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let heard = self.0.clone();
        Box::pin(async move {
            rpc::answer(request, |asked| {
                heard.send(asked).unwrap();
                async { Ok(wire::Empty {}) }
            })
            .await
        })
    }
}

/// A kubelet: its socket, and who registered.
struct Kubelet {
    server: JoinHandle<()>,
    heard: mpsc::UnboundedReceiver<wire::RegisterRequest>,
}

impl Kubelet {
    /// As a kubelet starts: it removes every socket of its folder, then listens.
    fn start(folder: &Path) -> Self {
        for entry in fs::read_dir(folder).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        let (tell, heard) = mpsc::unbounded_channel();
        let listener = UnixListener::bind(folder.join(KUBELET)).unwrap();
        let served = tonic::transport::Server::builder()
            .add_service(Registration(tell))
            .serve_with_incoming(UnixListenerStream::new(listener));
        let server = tokio::spawn(async move { served.await.unwrap() });
        Self { server, heard }
    }

    async fn registered(&mut self) -> wire::RegisterRequest {
        let heard = tokio::time::timeout(PATIENCE, self.heard.recv()).await;
        heard.expect("no registration").unwrap()
    }
}

struct Node {
    _temp: tempfile::TempDir,
    folder: PathBuf,
    folders: Folders,
    change: watch::Sender<Arc<Inventory>>,
    cancel: CancellationToken,
    plugin: JoinHandle<()>,
}

fn gpus(unhealthy: &[u32]) -> NodeGpus {
    let mut gpus = NodeGpus::new(model::find("a100-sxm4-80gb").unwrap(), 2);
    gpus.unhealthy = unhealthy.iter().copied().collect();
    gpus
}

fn inventory(unhealthy: &[u32]) -> Arc<Inventory> {
    Arc::new(Inventory::new("gpu-1", &gpus(unhealthy)).unwrap())
}

impl Node {
    /// A node whose plugin runs; the kubelet may come later.
    fn start() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("device-plugins");
        fs::create_dir(&folder).unwrap();
        let folders = Folders::new(temp.path().join("gpu"));
        let (change, receiver) = watch::channel(inventory(&[]));
        let plugin = Plugin {
            kubelet: folder.clone(),
            folders: folders.clone(),
            inventory: receiver,
        };
        let cancel = CancellationToken::new();
        let plugin = tokio::spawn(plugin.run(cancel.clone()));
        Self {
            _temp: temp,
            folder,
            folders,
            change,
            cancel,
            plugin,
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.join(ENDPOINT)
    }

    async fn devices(&self) -> Streaming<wire::ListAndWatchResponse> {
        let channel = rpc::connect(&self.socket()).await.unwrap();
        let mut grpc = tonic::client::Grpc::new(channel);
        grpc.ready().await.unwrap();
        let path = PathAndQuery::from_static("/v1beta1.DevicePlugin/ListAndWatch");
        let codec = ProstCodec::<wire::Empty, wire::ListAndWatchResponse>::default();
        let request = Request::new(wire::Empty {});
        grpc.server_streaming(request, path, codec)
            .await
            .unwrap()
            .into_inner()
    }

    async fn allocate(&self, ids: &[&str]) -> Result<wire::AllocateResponse, rpc::CallError> {
        let channel = rpc::connect(&self.socket()).await.unwrap();
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let asked = wire::AllocateRequest {
            containers: vec![wire::ContainerAllocateRequest { ids }],
        };
        rpc::call(channel, "/v1beta1.DevicePlugin/Allocate", asked).await
    }
}

async fn next(stream: &mut Streaming<wire::ListAndWatchResponse>) -> Option<Vec<(String, String)>> {
    let message = tokio::time::timeout(PATIENCE, stream.message()).await;
    let message = message.expect("no list of devices").ok().flatten()?;
    let pair = |device: wire::Device| (device.id, device.health);
    Some(message.devices.into_iter().map(pair).collect())
}

#[tokio::test]
async fn registers_and_lists_its_devices() {
    let node = Node::start();
    let mut kubelet = Kubelet::start(&node.folder);
    let request = kubelet.registered().await;
    assert_eq!(request.version, "v1beta1");
    assert_eq!(request.resource_name, "nvidia.com/gpu");
    assert_eq!(request.endpoint, ENDPOINT);
    assert!(request.options.unwrap().get_preferred_allocation_available);
    let listed = next(&mut node.devices().await).await.unwrap();
    let expected = inventory(&[]).advertised();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1], (expected[1].id.clone(), "Healthy".to_owned()));
}

#[tokio::test]
async fn a_device_turned_unhealthy_is_told_at_once_and_so_is_its_repair() {
    let node = Node::start();
    let mut kubelet = Kubelet::start(&node.folder);
    kubelet.registered().await;
    let mut stream = node.devices().await;
    next(&mut stream).await.unwrap();
    for (broken, expected) in [(&[1][..], "Unhealthy"), (&[][..], "Healthy")] {
        node.change.send_replace(inventory(broken));
        let listed = next(&mut stream).await.unwrap();
        assert_eq!(listed[0].1, "Healthy");
        assert_eq!(listed[1].1, expected);
    }
}

#[tokio::test]
async fn a_container_gets_variables_mounts_and_an_empty_folder_for_its_report() {
    let node = Node::start();
    let mut kubelet = Kubelet::start(&node.folder);
    kubelet.registered().await;
    let uuid = &inventory(&[]).devices[1].uuid;
    let old = node.folders.report(uuid);
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("report.json"), "of the container before").unwrap();

    let answer = node.allocate(&[uuid]).await.unwrap();
    let container = &answer.containers[0];
    assert_eq!(&container.envs["NVIDIA_VISIBLE_DEVICES"], uuid);
    let smi = container
        .mounts
        .iter()
        .find(|m| m.container_path == "/usr/bin/nvidia-smi");
    assert!(smi.unwrap().read_only);
    let report = container.mounts.iter().find(|m| !m.read_only).unwrap();
    assert_eq!(Path::new(&report.host_path), old);
    assert_eq!(fs::read_dir(&old).unwrap().count(), 0);

    let refused = node.allocate(&["GPU-of-another-node"]).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("there is no device `GPU-of-another-node`"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_kubelet_that_restarts_hears_of_us_again() {
    let node = Node::start();
    let mut first = Kubelet::start(&node.folder);
    first.registered().await;
    let mut stream = node.devices().await;
    next(&mut stream).await.unwrap();

    first.server.abort();
    let mut second = Kubelet::start(&node.folder);
    second.registered().await;
    // What was said to the old kubelet is over; the new one hears the devices as they are now.
    while next(&mut stream).await.is_some() {}
    node.change.send_replace(inventory(&[0]));
    let listed = next(&mut node.devices().await).await.unwrap();
    assert_eq!(listed[0].1, "Unhealthy");
}

#[tokio::test]
async fn our_own_socket_comes_back_when_somebody_removes_it() {
    let node = Node::start();
    let mut kubelet = Kubelet::start(&node.folder);
    kubelet.registered().await;
    fs::remove_file(node.socket()).unwrap();
    kubelet.registered().await;
    assert_eq!(next(&mut node.devices().await).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_kubelet_that_does_not_listen_yet_is_tried_again() {
    let node = Node::start();
    // A socket of a kubelet that died: the file is there, nobody listens.
    drop(UnixListener::bind(node.folder.join(KUBELET)).unwrap());
    let mut kubelet = Kubelet::start(&node.folder);
    kubelet.registered().await;
}

#[tokio::test]
async fn it_ends_when_it_is_told_to_with_or_without_a_kubelet() {
    let without = Node::start();
    without.cancel.cancel();
    without.plugin.await.unwrap();

    let with = Node::start();
    let mut kubelet = Kubelet::start(&with.folder);
    kubelet.registered().await;
    let mut stream = with.devices().await;
    with.cancel.cancel();
    with.plugin.await.unwrap();
    while next(&mut stream).await.is_some() {}
}

#[tokio::test]
async fn preferred_allocation_answers_each_container() {
    let node = Node::start();
    let mut kubelet = Kubelet::start(&node.folder);
    kubelet.registered().await;
    let available: Vec<String> = inventory(&[])
        .advertised()
        .into_iter()
        .rev()
        .map(|d| d.id)
        .collect();
    let one = wire::ContainerPreferredAllocationRequest {
        available: available.clone(),
        must_include: vec![],
        size: 1,
    };
    let channel = rpc::connect(&node.socket()).await.unwrap();
    let asked = wire::PreferredAllocationRequest {
        containers: vec![one],
    };
    let answer: wire::PreferredAllocationResponse = rpc::call(
        channel,
        "/v1beta1.DevicePlugin/GetPreferredAllocation",
        asked,
    )
    .await
    .unwrap();
    assert_eq!(answer.containers[0].ids, [available[1].clone()]);
}
