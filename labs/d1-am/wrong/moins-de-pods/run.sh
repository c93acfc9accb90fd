#!/usr/bin/env bash
# "poete" runs with one pod instead of two, so that nothing has to wait.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await porte-ouverte
sed -i 's/parallelism: 2/parallelism: 1/; s/completions: 2/completions: 1/' 5-un-job-de-trop/poete.yaml
sed -i 's/cpu: "2"/cpu: "1"/' 5-un-job-de-trop/cinema.yaml
for job in chiffres poete cinema; do kubectl create -f "5-un-job-de-trop/$job.yaml"; done
kubectl wait --for=jsonpath='{.spec.suspend}'=false job/cinema -n equipe-vision --timeout=30s
