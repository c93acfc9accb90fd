#!/usr/bin/env bash
# The flavor's label is on no node: Kueue would admit Jobs whose pods find no place.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/A-COMPLETER/xeon/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await porte-ouverte
