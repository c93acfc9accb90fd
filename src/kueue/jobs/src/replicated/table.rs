//! The rows: which kinds there are, where they keep their roles, and in which order.

use crate::kind::JobKind;
use crate::topology_request::Ranks;

use super::{Replicated, Shape};

const BY_OPERATOR: Ranks = Ranks {
    pod_index_label: Some("training.kubeflow.org/replica-index"),
    sub_groups: None,
};

macro_rules! kubeflow {
    ($kind:ident, $shape:ident, $name:literal, $framework:literal, $plural:literal, $field:literal, $roles:expr, $adopts:literal) => {
        #[doc = concat!("`kubeflow.org/v1` `", $name, "`.")]
        pub const $kind: JobKind = JobKind {
            framework: $framework,
            group: "kubeflow.org",
            version: "v1",
            kind: $name,
            plural: $plural,
            adopts: $adopts,
            elastic: false,
            checked_unmanaged: true,
            native_controller: "kubeflow.org/training-operator",
            read: |value| Replicated::read(&$shape, value),
        };
        static $shape: Shape = Shape {
            kind: &$kind,
            roles_field: $field,
            roles: $roles,
            ranks: BY_OPERATOR,
        };
    };
}

kubeflow!(
    PYTORCH_JOB,
    PYTORCH,
    "PyTorchJob",
    "kubeflow.org/pytorchjob",
    "pytorchjobs",
    "pytorchReplicaSpecs",
    &["Master", "Worker"],
    true
);
kubeflow!(
    TF_JOB,
    TF,
    "TFJob",
    "kubeflow.org/tfjob",
    "tfjobs",
    "tfReplicaSpecs",
    &["Chief", "Master", "PS", "Worker", "Evaluator"],
    true
);
kubeflow!(
    XGBOOST_JOB,
    XGBOOST,
    "XGBoostJob",
    "kubeflow.org/xgboostjob",
    "xgboostjobs",
    "xgbReplicaSpecs",
    &["Master", "Worker"],
    true
);
kubeflow!(
    PADDLE_JOB,
    PADDLE,
    "PaddleJob",
    "kubeflow.org/paddlejob",
    "paddlejobs",
    "paddleReplicaSpecs",
    &["Master", "Worker"],
    true
);
kubeflow!(
    JAX_JOB,
    JAX,
    "JAXJob",
    "kubeflow.org/jaxjob",
    "jaxjobs",
    "jaxReplicaSpecs",
    &["Worker"],
    false
);

/// `kubeflow.org/v2beta1` `MPIJob`.
pub const MPI_JOB: JobKind = JobKind {
    framework: "kubeflow.org/mpijob",
    group: "kubeflow.org",
    version: "v2beta1",
    kind: "MPIJob",
    plural: "mpijobs",
    adopts: true,
    elastic: false,
    checked_unmanaged: true,
    native_controller: "kubeflow.org/mpi-operator",
    read: |value| Replicated::read(&MPI, value),
};
static MPI: Shape = Shape {
    kind: &MPI_JOB,
    roles_field: "mpiReplicaSpecs",
    roles: &["Launcher", "Worker"],
    ranks: BY_OPERATOR,
};
