#!/usr/bin/env bash
# The Job has no queue label: it starts at once, and Kueue never hears of it.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await porte-ouverte
sed -i '/labels:/d; /queue-name/d; s/"20"/"2"/' 4-un-job-simple/premier.yaml
kubectl create -f 4-un-job-simple/premier.yaml
kubectl wait --for=condition=complete job/premier -n equipe-vision --timeout=60s
