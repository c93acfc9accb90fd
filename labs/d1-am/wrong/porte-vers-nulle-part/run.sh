#!/usr/bin/env bash
# The LocalQueue names a ClusterQueue that does not exist.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
sed -i 's/clusterQueue: vision/clusterQueue: visions/' 3-premiere-file/localqueue.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await salle-active
