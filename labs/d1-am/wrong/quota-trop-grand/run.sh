#!/usr/bin/env bash
# With 40 CPU everything fits and nothing ever waits.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/nominalQuota: "4"/nominalQuota: "40"/' 3-premiere-file/clusterqueue.yaml
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await porte-ouverte
for job in chiffres poete cinema; do kubectl create -f "5-un-job-de-trop/$job.yaml"; done
