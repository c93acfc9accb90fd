#!/usr/bin/env bash
# Instead of the quota, the Job's request is made smaller.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml -f 3-premiere-file/clusterqueue.yaml -f 3-premiere-file/localqueue.yaml
await porte-ouverte
kubectl create -f 6-jamais-admissible/geant.yaml
await trop-grand
kubectl delete job geant -n equipe-vision
sed -i 's/cpu: "6"/cpu: "3"/' 6-jamais-admissible/geant.yaml
kubectl create -f 6-jamais-admissible/geant.yaml
kubectl wait --for=jsonpath='{.spec.suspend}'=false job/geant -n equipe-vision --timeout=30s
