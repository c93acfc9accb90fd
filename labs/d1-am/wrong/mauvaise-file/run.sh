#!/usr/bin/env bash
# The label names the ClusterQueue instead of the team's LocalQueue.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await porte-ouverte
sed -i 's/queue-name: entrainements/queue-name: vision/' 4-un-job-simple/premier.yaml
kubectl create -f 4-un-job-simple/premier.yaml
