//! Images of what a cluster consists of: its nodes, the controllers and the programs beside the GPUs. Static programs
//! with nothing around them, but for the node.

use super::layers::{GROUP, PASSWD, TEMPORARY};
use super::{Make, Part, Profile, Recipe, Settings};

pub(super) const MANAGER: Recipe = Recipe {
    name: "kueue-manager",
    about: "the controller, one static program",
    make: Make::Layers(&[&[
        PASSWD,
        GROUP,
        TEMPORARY,
        Part::Program {
            package: "kueue-manager",
            binary: "kueue-manager",
            to: "manager",
            profile: Profile::Release,
        },
    ]]),
    settings: Settings {
        user: "65532:65532",
        folder: "/",
        entrypoint: &["/manager"],
        command: &[],
        env: &[],
    },
};

pub(super) const GPU: Recipe = Recipe {
    name: "gpu",
    about: "device plugin, exporter and nvidia-smi, static programs",
    make: Make::Layers(&[&[
        PASSWD,
        GROUP,
        TEMPORARY,
        Part::Program {
            package: "gpu",
            binary: "nvidia-smi",
            to: "usr/bin/nvidia-smi",
            profile: Profile::Daily,
        },
        Part::Program {
            package: "gpu",
            binary: "atelier-gpu",
            to: "usr/bin/atelier-gpu",
            profile: Profile::Daily,
        },
    ]]),
    settings: Settings {
        user: "0:0",
        folder: "/",
        entrypoint: &["/usr/bin/atelier-gpu"],
        command: &[],
        env: &[],
    },
};

pub(super) const OPERATOR: Recipe = Recipe {
    name: "training-operator",
    about: "Kubeflow Training Operator v1.8.1, from its Go module",
    make: Make::Layers(&[&[
        PASSWD,
        GROUP,
        TEMPORARY,
        Part::Go {
            module: "images/training-operator",
            package: "github.com/kubeflow/training-operator/cmd/training-operator.v1",
            to: "manager",
        },
    ]]),
    settings: Settings {
        user: "65532:65532",
        folder: "/",
        entrypoint: &["/manager"],
        command: &[],
        env: &[],
    },
};

pub(super) const NODE: Recipe = Recipe {
    name: "node",
    about: "a Kubernetes node for kind, from Debian packages and Go modules",
    make: Make::Script {
        program: "images/node/build",
        inputs: &["images/node", "images/control-plane/kubernetes"],
        within: &[
            "outils",
            "trainer",
            "gpu",
            "kueue-manager",
            "training-operator",
        ],
    },
    settings: Settings {
        user: "",
        folder: "",
        entrypoint: &[],
        command: &[],
        env: &[],
    },
};
