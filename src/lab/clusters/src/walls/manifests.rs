//! The manifests as values: placeholders filled in, and a binding made for every validating policy.

use serde_json::{Value, json};

use super::WallsError;
use crate::host_node::{self, KNOWN_IMAGES};
use crate::kwok::NODE_LABEL;

const FILES: [(&str, &str); 3] = [
    ("roles.yaml", include_str!("roles.yaml")),
    ("policies.yaml", include_str!("policies.yaml")),
    ("placement.yaml", include_str!("placement.yaml")),
];

/// CEL: the request comes from neither the platform nor Kubernetes itself. None of these identities can be had by a
/// trainee: they would need a client certificate, or a token of `kube-system`, which the policies refuse.
const NOT_SYSTEM: &str = "!(request.userInfo.groups.exists(group, group in ['system:masters', 'system:nodes', \
     'system:serviceaccounts:kube-system']) || request.userInfo.username in ['system:apiserver', \
     'system:kube-controller-manager', 'system:kube-scheduler', 'atelier:kwok'])";

/// Every object of the walls, in the order in which to apply them.
pub(super) fn all() -> Result<Vec<Value>, WallsError> {
    let mut objects = Vec::new();
    for (file, text) in FILES {
        let broken = |error: serde_saphyr::Error| WallsError::Manifest {
            file,
            reason: error.to_string(),
        };
        let documents: Vec<Value> =
            serde_saphyr::from_str_multiple(&filled_in(text)).map_err(broken)?;
        for document in documents {
            let binding = binding(&document);
            objects.push(document);
            objects.extend(binding);
        }
    }
    Ok(objects)
}

fn filled_in(text: &str) -> String {
    text.replace("@NOT_SYSTEM@", NOT_SYSTEM)
        .replace("@HOST_NODE@", host_node::NODE_NAME)
        .replace("@HOST_LABEL@", host_node::LABEL_VALUE)
        .replace("@HOST_TAINT@", host_node::TAINT_KEY)
        .replace("@NODE_LABEL@", NODE_LABEL)
        .replace("@KNOWN_IMAGE@", &known_image())
}

/// CEL: `container` has an image that the host node can run.
fn known_image() -> String {
    let one = |repository: &&str| {
        format!("container.image == '{repository}' || container.image.startsWith('{repository}:')")
    };
    KNOWN_IMAGES
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join(" || ")
}

/// A validating policy does nothing until it is bound.
fn binding(policy: &Value) -> Option<Value> {
    if policy["kind"] != "ValidatingAdmissionPolicy" {
        return None;
    }
    let name = &policy["metadata"]["name"];
    Some(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }))
}
