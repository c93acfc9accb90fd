#!/usr/bin/env bash
# The third Job is deleted while it waits, and submitted again when there is room.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await porte-ouverte
for job in chiffres poete; do
  sed -i 's/"sleep", "[0-9]*"/"sleep", "8"/' "5-un-job-de-trop/$job.yaml"
  kubectl create -f "5-un-job-de-trop/$job.yaml"
done
kubectl wait --for=jsonpath='{.spec.suspend}'=false job/chiffres job/poete -n equipe-vision --timeout=30s
kubectl create -f 5-un-job-de-trop/cinema.yaml
kubectl delete job cinema -n equipe-vision
kubectl wait --for=condition=complete job/chiffres job/poete -n equipe-vision --timeout=60s
kubectl create -f 5-un-job-de-trop/cinema.yaml
kubectl wait --for=jsonpath='{.spec.suspend}'=false job/cinema -n equipe-vision --timeout=30s
