#!/usr/bin/env bash
# Run in a trainee's shell beside another trainee's environment. `other.env` says what an attacker could have guessed;
# `other.kubeconfig` is that trainee's own kubeconfig, as if it had been stolen.
set -u
. ./other.env
holes=0
hole() {
  echo "hole: $*" >&2
  holes=1
}
refused() { # what, command…: the command must fail
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then hole "$what"; fi
}
connects() { timeout 3 bash -c "exec 3<>/dev/tcp/$1/$2"; }

# A test that finds nothing because nothing works would prove nothing.
kubectl get nodes >/dev/null || hole "control: the own API server does not answer"

# Files of the host and of the other environment.
refused "the other environment's folder" test -e "$OTHER_DIR"
refused "the other environment's credentials" cat "$OTHER_DIR/admin.kubeconfig"
refused "the platform's own folder" ls "$DATA_DIR"
refused "a file of the host" cat "$HOST_FILE"
refused "passwords of the host" cat /etc/shadow

# The network: only the own API server.
refused "the other API server" connects 127.0.0.1 "$OTHER_PORT"
refused "another port of the own namespace" connects 127.0.0.1 10250
refused "an address of the outside" connects 192.0.2.1 443
refused "the other API server with its own credentials" kubectl --kubeconfig other.kubeconfig get nodes --request-timeout=5s

# Processes of the host and of the other environment.
if cat /proc/[0-9]*/comm 2>/dev/null | grep -qxE 'kube-apiserver|etcd|kwok'; then hole "processes of the control plane"; fi

# The role: enough for the labs, not enough to take the cluster over.
refused "everything" kubectl auth can-i '*' '*' --all-namespaces
refused "a Secret in kube-system" kubectl create secret generic mine -n kube-system
refused "a token in a Secret of kube-system" kubectl apply -f token.yaml
refused "a token of kube-system" kubectl create token default -n kube-system
refused "the kubelet's own interface" kubectl get --raw /api/v1/nodes/plateforme/proxy/pods
refused "impersonation" kubectl get nodes --as=root --as-group=system:masters
refused "the administrator's role" kubectl create clusterrolebinding me --clusterrole=cluster-admin --group=atelier:trainees
refused "the wall's own policies" kubectl delete validatingadmissionpolicies --all
refused "the platform's node" kubectl label node plateforme trainee=was-here

if [ "$holes" = 0 ]; then answer murs-vus tenus; else answer murs-vus perces; fi
exit "$holes"
