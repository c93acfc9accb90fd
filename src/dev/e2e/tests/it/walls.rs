//! A curious trainee with a shell tries to get out. Each attempt runs in the sandbox of the terminal; first a few things
//! that must work, because a wall that lets nothing through proves nothing.

use testkit::{Platform, Programs};

use crate::{
    commands::{create, delete, ok},
    machine,
};

const ENV: &str = "murs";

#[tokio::test(flavor = "multi_thread")]
async fn a_curious_trainee_stays_inside() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _place = machine::place().await;
    let platform = Platform::new(&programs);
    create(&platform, ENV).await;

    for allowed in ALLOWED {
        let output = shell(&platform, allowed).await;
        assert_eq!(
            output.code,
            Some(0),
            "must work: {allowed}\n{}{}",
            output.stdout,
            output.stderr
        );
    }
    for (attempt, told) in REFUSED {
        let output = shell(&platform, attempt).await;
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_ne!(output.code, Some(0), "not refused: {attempt}\n{said}");
        assert!(
            said.contains(told),
            "{attempt} was refused for another reason than {told:?}:\n{said}"
        );
    }
    the_host_is_not_reached(&platform).await;

    delete(&platform, ENV).await;
}

const ALLOWED: [&str; 7] = [
    "kubectl create namespace essai && kubectl create token default -n essai",
    "kubectl label node cpu-1 essai=oui && kubectl cordon cpu-1 && kubectl uncordon cpu-1",
    "kubectl create clusterrole lecteur --verb=get --resource=pods && kubectl delete clusterrole lecteur",
    "kubectl create rolebinding lit -n kube-system --role=extension-apiserver-authentication-reader --serviceaccount=essai:default",
    "kubectl delete rolebinding lit -n kube-system",
    // There are none, so reading them is harmless; a role cannot leave one namespace out.
    "test -z \"$(kubectl get secrets -n kube-system -o name)\"",
    "helm list -A",
];

/// Attempts, and a word of the reason for which each is refused.
const REFUSED: [(&str, &str); 38] = [
    // Tokens of accounts that may do more.
    (
        "kubectl create token default -n kube-system",
        "belongs to the platform",
    ),
    (
        "kubectl create serviceaccount moi -n kube-system",
        "belongs to the platform",
    ),
    ("kubectl create -f jeton.yaml", "belongs to the platform"),
    (
        "kubectl run vol -n kube-system --image=atelier-kueue/kueue-manager:0.1.0",
        "belongs to the platform",
    ),
    (
        "kubectl create rolebinding vol -n kube-system --role=system:controller:token-cleaner --user=trainee",
        "forbidden",
    ),
    // Roles.
    (
        "kubectl create clusterrolebinding moi --clusterrole=cluster-admin --user=trainee",
        "not currently held",
    ),
    (
        "kubectl create rolebinding moi -n essai --clusterrole=system:controller:generic-garbage-collector --user=trainee",
        "not currently held",
    ),
    (
        "kubectl create clusterrole tout --verb='*' --resource='*.*'",
        "not currently held",
    ),
    (
        "kubectl create clusterrole autre --verb=impersonate --resource=users",
        "not currently held",
    ),
    (
        "kubectl create clusterrole noeud --verb=get --resource=nodes/proxy",
        "not currently held",
    ),
    (
        "kubectl create clusterrole lier --verb=bind --resource=clusterroles",
        "not currently held",
    ),
    (
        "kubectl create clusterrole agrege --aggregation-rule=a=b",
        "must have cluster-admin",
    ),
    (
        "kubectl delete clusterrole atelier-trainee",
        "belongs to the platform",
    ),
    (
        "kubectl delete clusterrolebinding atelier-trainees",
        "belongs to the platform",
    ),
    (
        "kubectl label clusterrole cluster-admin a=b",
        "not currently held",
    ),
    // Somebody else.
    ("kubectl get pods --as=system:admin", "impersonate"),
    (
        "kubectl get pods --as=x --as-group=system:masters",
        "impersonate",
    ),
    // Certificates.
    ("kubectl get certificatesigningrequests", "forbidden"),
    ("kubectl create -f csr.yaml", "forbidden"),
    ("kubectl certificate approve x", "forbidden"),
    // The policies themselves.
    (
        "kubectl delete validatingadmissionpolicies --all",
        "forbidden",
    ),
    (
        "kubectl delete validatingadmissionpolicybindings --all",
        "forbidden",
    ),
    (
        "kubectl delete mutatingadmissionpolicies --all",
        "forbidden",
    ),
    (
        "kubectl label validatingadmissionpolicy atelier-roles a=b",
        "forbidden",
    ),
    // Nodes.
    (
        "kubectl get --raw /api/v1/nodes/plateforme/proxy/healthz",
        "forbidden",
    ),
    ("kubectl delete node plateforme", "forbidden"),
    (
        "kubectl label node plateforme a=b",
        "belongs to the platform",
    ),
    (
        "kubectl taint node plateforme atelier.kueue/plateforme-",
        "belongs to the platform",
    ),
    (
        "kubectl patch node plateforme -p '{\"spec\":{\"unschedulable\":true}}'",
        "belongs to the platform",
    ),
    (
        "kubectl label node cpu-1 atelier.kueue/node=plateforme --overwrite",
        "says who serves a node",
    ),
    (
        "kubectl delete lease plateforme -n kube-node-lease",
        "belongs to the platform",
    ),
    // The API server as a way out.
    ("kubectl create -f webhook-url.yaml", "through a Service"),
    (
        "kubectl create -f webhook-leases.yaml",
        "must not watch over",
    ),
    ("kubectl create -f apiservice.yaml", "only APIs of"),
    ("kubectl get --raw /debug/pprof/", "forbidden"),
    // The host.
    ("cat /etc/shadow", "No such file"),
    ("ls /root /work", "No such file"),
    ("exec 3<>/dev/tcp/127.0.0.1/22", "refused"),
];

/// Where a pod is, is written in its status, which the controller's role and so the trainee may write. No policy can
/// judge that; the egress proxy does.
async fn the_host_is_not_reached(platform: &Platform) {
    let moved = r#"kubectl apply -n essai -f sortie.yaml && kubectl patch pod sortie -n essai --subresource=status \
        -p '{"status":{"podIP":"192.0.2.1","podIPs":[{"ip":"192.0.2.1"}]}}'"#;
    ok(trainee(platform, moved)).await;
    let get = "kubectl get --raw /api/v1/namespaces/essai/pods/http:sortie:80/proxy/";
    let output = shell(platform, get).await;
    assert_ne!(output.code, Some(0), "reached: {}", output.stdout);
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains("403 Forbidden"), "{said}");
}

/// Files that the attempts use, written by the shell before each.
const FILES: &str = r#"
cat > jeton.yaml <<'END'
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: vol, namespace: kube-system, annotations: {kubernetes.io/service-account.name: default}}
END
cat > csr.yaml <<'END'
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: x}
spec: {request: eA==, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}
END
cat > webhook-url.yaml <<'END'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: sortie}
webhooks:
- {name: a.b.c, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {url: "https://127.0.0.1:22/"},
   rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
END
cat > webhook-leases.yaml <<'END'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: baux}
webhooks:
- {name: a.b.c, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {service: {name: a, namespace: essai}},
   rules: [{apiGroups: [coordination.k8s.io], apiVersions: [v1], operations: ["*"], resources: [leases]}]}
END
cat > apiservice.yaml <<'END'
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.essai.example}
spec: {group: essai.example, version: v1, groupPriorityMinimum: 100, versionPriority: 100, service: {name: a, namespace: essai}}
END
cat > sortie.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: {name: sortie}
spec: {nodeSelector: {nulle: part}, containers: [{name: c, image: x}]}
END
"#;

async fn shell(platform: &Platform, line: &str) -> exec::Output {
    trainee(platform, line)
        .output()
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// `line` in the trainee's shell.
fn trainee(platform: &Platform, line: &str) -> exec::Cmd {
    let script = format!("{FILES}\n{line}");
    platform.atelier(["env", "run", ENV, "--", "bash", "-c", &script])
}
