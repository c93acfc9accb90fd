#!/usr/bin/env bash
# "libre" is given a queue, so that it is not outside Kueue at all.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await porte-ouverte
sed -i 's/^  namespace: equipe-vision/  namespace: equipe-vision\n  labels: {kueue.x-k8s.io\/queue-name: entrainements}/' 7-hors-de-kueue/libre.yaml
kubectl create -f 7-hors-de-kueue/libre.yaml
