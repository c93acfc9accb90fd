//! The command lines of an environment's servers. Values only; `supervisor` starts them.
//!
//! Every path is relative to the `run` folder, where all of them work.

use std::ffi::OsString;

use exec::Cmd;

use super::layout::Layout;
use super::record::Programs;
use crate::kwok;
use crate::pki::{CONTROLLER_MANAGER, KUBELET_CLIENT, KWOK, SCHEDULER};

/// Memory that Go programs may let grow before they collect: small heaps are worth more here than a little time.
const GOGC: &str = "30";

/// The controllers that labs can notice. Storage, cloud and certificate controllers have nothing to do here.
const CONTROLLERS: &[&str] = &[
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "taint-eviction-controller",
    "ttl-after-finished-controller",
    "validatingadmissionpolicy-status-controller",
];

const ADMISSION: &str = "NodeRestriction,MutatingAdmissionPolicy,ValidatingAdmissionPolicy";

pub(crate) const EGRESS_CONFIGURATION: &str = "egress.json";

/// Everything the API server dials for somebody else goes through the proxy: webhooks by address are dialled as
/// `controlplane`, those by Service, aggregated APIs and kubelets as `cluster`.
pub(crate) fn egress_configuration() -> String {
    let through_proxy = serde_json::json!({
        "proxyProtocol": "HTTPConnect",
        "transport": { "uds": { "udsName": "egress.sock" } },
    });
    let selections = ["cluster", "controlplane"]
        .map(|name| serde_json::json!({ "name": name, "connection": through_proxy }));
    let configuration = serde_json::json!({
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": selections,
    });
    format!("{configuration:#}\n")
}

pub(crate) fn etcd(layout: &Layout, programs: &Programs) -> Cmd {
    // Without fsync a power cut may cost an environment, which is then rebuilt; with it, every write of every trainee
    // would wait for the disk.
    server(layout, &programs.tools.etcd).args([
        "--name=environment",
        "--data-dir=../etcd",
        "--listen-client-urls=unix://etcd.sock",
        "--advertise-client-urls=unix://etcd.sock",
        "--listen-peer-urls=unix://peer.sock",
        "--initial-advertise-peer-urls=unix://peer.sock",
        "--initial-cluster=environment=unix://peer.sock",
        "--unsafe-no-fsync",
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=5m",
        "--quota-backend-bytes=536870912",
        "--snapshot-count=5000",
        "--log-level=warn",
    ])
}

pub(crate) fn api_server(layout: &Layout, programs: &Programs, port: u16) -> Cmd {
    let pki = |name: &str| format!("../pki/{name}");
    let kubelet = KUBELET_CLIENT.file;
    server(layout, &programs.tools.kube_apiserver)
        .args([
            "--etcd-servers=unix://etcd.sock",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            "--anonymous-auth=false",
            "--authorization-mode=Node,RBAC",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            "--enable-aggregator-routing=true",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--kubelet-preferred-address-types=InternalIP",
            "--allow-privileged=false",
            "--profiling=false",
            "--event-ttl=24h",
            "--enable-priority-and-fairness=false",
            "--max-requests-inflight=400",
            "--shutdown-delay-duration=0s",
            "--v=1",
        ])
        .args([
            format!("--secure-port={port}"),
            format!("--enable-admission-plugins={ADMISSION}"),
            format!("--egress-selector-config-file={EGRESS_CONFIGURATION}"),
            format!("--client-ca-file={}", pki("ca.pem")),
            format!("--tls-cert-file={}", pki("apiserver.pem")),
            format!("--tls-private-key-file={}", pki("apiserver-key.pem")),
            format!("--service-account-key-file={}", pki("sa.pub")),
            format!("--service-account-signing-key-file={}", pki("sa.key")),
            format!(
                "--requestheader-client-ca-file={}",
                pki("front-proxy-ca.pem")
            ),
            format!("--proxy-client-cert-file={}", pki("front-proxy-client.pem")),
            format!(
                "--proxy-client-key-file={}",
                pki("front-proxy-client-key.pem")
            ),
            format!(
                "--kubelet-client-certificate={}",
                pki(&format!("{kubelet}.pem"))
            ),
            format!(
                "--kubelet-client-key={}",
                pki(&format!("{kubelet}-key.pem"))
            ),
        ])
}

pub(crate) fn controller_manager(layout: &Layout, programs: &Programs) -> Cmd {
    server(layout, &programs.tools.kube_controller_manager)
        .args(CLIENT_ONLY)
        .args([
            format!("--kubeconfig=../{}.kubeconfig", CONTROLLER_MANAGER.file),
            format!("--controllers={}", CONTROLLERS.join(",")),
            "--root-ca-file=../pki/ca.pem".to_owned(),
            "--service-account-private-key-file=../pki/sa.key".to_owned(),
            // Nodes are ours; on a busy machine a late lease must not cost a trainee their pods.
            "--node-monitor-grace-period=5m0s".to_owned(),
            "--node-monitor-period=5s".to_owned(),
            "--kube-api-qps=100".to_owned(),
            "--kube-api-burst=200".to_owned(),
            "--min-resync-period=12h".to_owned(),
        ])
}

pub(crate) fn scheduler(layout: &Layout, programs: &Programs) -> Cmd {
    server(layout, &programs.tools.kube_scheduler)
        .args(CLIENT_ONLY)
        .arg(format!("--kubeconfig=../{}.kubeconfig", SCHEDULER.file))
        .args(["--kube-api-qps=100", "--kube-api-burst=200"])
}

pub(crate) fn kwok(layout: &Layout, programs: &Programs) -> Cmd {
    let options = kwok::Options {
        kwok: programs.tools.kwok.clone(),
        configuration: "kwok.yaml".into(),
        kubeconfig: format!("../{}.kubeconfig", KWOK.file).into(),
    };
    let argv: Vec<OsString> = kwok::command(&options);
    server(layout, &options.kwok).args(argv.iter().skip(1))
}

/// No port of their own, and nobody to compete with.
const CLIENT_ONLY: &[&str] = &[
    "--leader-elect=false",
    "--secure-port=0",
    "--profiling=false",
    "--v=1",
];

fn server(layout: &Layout, program: &std::path::Path) -> Cmd {
    // A program of the host must not lead these out of the environment by a proxy of its own.
    Cmd::new(program)
        .cwd(layout.run())
        .env_clear()
        .env("HOME", layout.run())
        .env("PATH", "/usr/bin:/bin")
        .env("GOGC", GOGC)
}
