#!/usr/bin/env bash
# Helm says "deployed", but no pod of the controller ever becomes ready.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --set controllerManager.replicas=0
