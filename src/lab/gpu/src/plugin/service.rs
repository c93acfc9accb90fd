//! The five methods that the kubelet calls. They look things up in [`crate::inventory`], and prepare the folders a container mounts.

use std::convert::Infallible;
use std::fs::{self, Permissions};
use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::StreamExt as _;
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio_stream::wrappers::{UnixListenerStream, WatchStream};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::body::Body;
use tonic::server::NamedService;

use super::rpc;
use crate::inventory::{Folders, Grant, Inventory};
use crate::wire;

/// What the kubelet may ask of us.
pub(super) const OPTIONS: wire::DevicePluginOptions = wire::DevicePluginOptions {
    pre_start_required: false,
    get_preferred_allocation_available: true,
};

/// The service.
#[derive(Debug, Clone)]
pub struct DevicePlugin {
    inventory: watch::Receiver<Arc<Inventory>>,
    folders: Folders,
    over: CancellationToken,
}

impl DevicePlugin {
    pub(super) fn new(
        inventory: watch::Receiver<Arc<Inventory>>,
        folders: Folders,
        over: CancellationToken,
    ) -> Self {
        Self {
            inventory,
            folders,
            over,
        }
    }

    /// Serves until `over`.
    pub(super) async fn serve(
        self,
        listener: UnixListener,
        over: CancellationToken,
    ) -> Result<(), tonic::transport::Error> {
        tonic::transport::Server::builder()
            .add_service(self)
            .serve_with_incoming_shutdown(UnixListenerStream::new(listener), over.cancelled_owned())
            .await
    }

    async fn route(self, request: http::Request<Body>) -> Result<http::Response<Body>, Infallible> {
        let path = request.uri().path().to_owned();
        match path.as_str() {
            "/v1beta1.DevicePlugin/GetDevicePluginOptions" => {
                rpc::answer(request, |_: wire::Empty| async { Ok(OPTIONS) }).await
            }
            "/v1beta1.DevicePlugin/ListAndWatch" => {
                rpc::answer_stream(request, |_: wire::Empty| {
                    let changes = WatchStream::new(self.inventory.clone());
                    changes
                        .map(|inventory| Ok(list(&inventory)))
                        .take_until(self.over.clone().cancelled_owned())
                })
                .await
            }
            "/v1beta1.DevicePlugin/GetPreferredAllocation" => {
                rpc::answer(request, |asked| {
                    let answer = self.prefer(asked);
                    async { Ok(answer) }
                })
                .await
            }
            "/v1beta1.DevicePlugin/Allocate" => {
                rpc::answer(request, |asked| {
                    let answer = self.allocate(&asked);
                    async { answer }
                })
                .await
            }
            "/v1beta1.DevicePlugin/PreStartContainer" => {
                rpc::answer(request, |_: wire::Empty| async { Ok(wire::Empty {}) }).await
            }
            _ => Ok(rpc::unknown_method()),
        }
    }

    fn prefer(&self, asked: wire::PreferredAllocationRequest) -> wire::PreferredAllocationResponse {
        let inventory = self.inventory.borrow().clone();
        let one = |container: wire::ContainerPreferredAllocationRequest| {
            let size = usize::try_from(container.size).unwrap_or_default();
            wire::ContainerPreferredAllocationResponse {
                ids: inventory.prefer(&container.available, &container.must_include, size),
            }
        };
        wire::PreferredAllocationResponse {
            containers: asked.containers.into_iter().map(one).collect(),
        }
    }

    fn allocate(&self, asked: &wire::AllocateRequest) -> Result<wire::AllocateResponse, Status> {
        let inventory = self.inventory.borrow().clone();
        let one = |container: &wire::ContainerAllocateRequest| {
            let grant = inventory
                .grant(&container.ids, &self.folders)
                .map_err(|refusal| Status::invalid_argument(refusal.to_string()))?;
            prepare(&grant, &self.folders).map_err(|error| {
                Status::internal(format!("prepare the folders of a container: {error}"))
            })?;
            tracing::info!(allocation = grant.key, "devices handed out");
            Ok(response(grant))
        };
        let containers = asked
            .containers
            .iter()
            .map(one)
            .collect::<Result<_, Status>>()?;
        Ok(wire::AllocateResponse { containers })
    }
}

/// All devices, as the kubelet wants to hear of them after each change.
fn list(inventory: &Inventory) -> wire::ListAndWatchResponse {
    let device = |device: crate::inventory::Advertised| wire::Device {
        id: device.id,
        health: if device.healthy {
            wire::HEALTHY.to_owned()
        } else {
            wire::UNHEALTHY.to_owned()
        },
    };
    wire::ListAndWatchResponse {
        devices: inventory.advertised().into_iter().map(device).collect(),
    }
}

fn response(grant: Grant) -> wire::ContainerAllocateResponse {
    let mount = |mount: crate::inventory::Mount| wire::Mount {
        container_path: mount.inside,
        host_path: mount.on_node.display().to_string(),
        read_only: mount.read_only,
    };
    wire::ContainerAllocateResponse {
        envs: grant.envs.into_iter().collect(),
        mounts: grant.mounts.into_iter().map(mount).collect(),
    }
}

/// The folder of the report is empty (the last container's report is not this one's) and may be written by any user of the container.
fn prepare(grant: &Grant, folders: &Folders) -> io::Result<()> {
    let report = folders.report(&grant.key);
    match fs::remove_dir_all(&report) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(&report)?;
    fs::set_permissions(&report, Permissions::from_mode(0o1777))
}

impl NamedService for DevicePlugin {
    const NAME: &'static str = "v1beta1.DevicePlugin";
}

impl tower::Service<http::Request<Body>> for DevicePlugin {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(self.clone().route(request))
    }
}
