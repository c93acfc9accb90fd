#!/usr/bin/env bash
# The whole lab, as its text says. Only the durations of the Jobs are shortened; no criterion depends on them.
set -euo pipefail

shorten() { sed -i "s/\"sleep\", \"[0-9]*\"/\"sleep\", \"$2\"/" "$1"; }
shorten 4-un-job-simple/premier.yaml 3
shorten 5-un-job-de-trop/chiffres.yaml 22
shorten 5-un-job-de-trop/poete.yaml 24
shorten 5-un-job-de-trop/cinema.yaml 2
shorten 6-jamais-admissible/geant.yaml 3
shorten 7-hors-de-kueue/plein.yaml 8
shorten 7-hors-de-kueue/libre.yaml 4

# decouvrir
answer noeuds-gpu
answer gpu-total
answer prediction-contention
kubectl apply -f 1-decouvrir/deux-entrainements.yaml
await voir-contention
answer pods-en-attente
kubectl delete -f 1-decouvrir/deux-entrainements.yaml
await rendre-gpus

# installer
answer kueue-arrete
helm install kueue ~/kueue --namespace kueue-system --create-namespace --wait --timeout 3m
await controleur-pret
answer noeud-controleur "$(kubectl get pods -n kueue-system -o jsonpath='{.items[0].spec.nodeName}')"
# The pod is ready a moment before every node knows the way to it; until then the API server refuses, and one types the line again.
timeout 60 bash -c 'until kubectl create -f 2-installer/essai.yaml; do :; done'
await webhook-repond
kubectl delete job essai -n equipe-vision

# premiere-file
answer prediction-flavor
kubectl apply -f 3-premiere-file/clusterqueue.yaml
await quota-de-quatre
sed -i 's/A-COMPLETER/cpu/' 3-premiere-file/flavor.yaml
kubectl apply -f 3-premiere-file/flavor.yaml
await salle-active
kubectl apply -f 3-premiere-file/localqueue.yaml
await porte-ouverte

# un-job-simple
answer etat-initial
kubectl create -f 4-un-job-simple/premier.yaml
await parcours
answer createur-des-pods

# un-job-de-trop
answer qui-attend
answer qui-libere
kubectl create -f 5-un-job-de-trop/chiffres.yaml
kubectl create -f 5-un-job-de-trop/poete.yaml
kubectl wait --for=jsonpath='{.spec.suspend}'=false job/chiffres job/poete -n equipe-vision --timeout=30s
kubectl create -f 5-un-job-de-trop/cinema.yaml
await attendre
answer raison-attente "$(kubectl get workloads -n equipe-vision -l "kueue.x-k8s.io/job-uid=$(kubectl get job cinema -n equipe-vision -o jsonpath='{.metadata.uid}')" \
  -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].reason}')"
await partir-a-la-fin

# jamais-admissible
answer vider-la-file
kubectl create -f 6-jamais-admissible/geant.yaml
await trop-grand
answer raison-geant
sed -i 's/nominalQuota: "4"/nominalQuota: "6"/' 3-premiere-file/clusterqueue.yaml
kubectl apply -f 3-premiere-file/clusterqueue.yaml
await reparer
kubectl wait --for=condition=complete job/geant -n equipe-vision --timeout=120s

# hors-de-kueue
answer libre-part
kubectl create -f 7-hors-de-kueue/plein.yaml
kubectl create -f 7-hors-de-kueue/sage.yaml
kubectl wait --for=jsonpath='{.status.active}'=1 job/plein -n equipe-vision --timeout=30s
kubectl create -f 7-hors-de-kueue/libre.yaml
await libre-tourne
answer cpu-comptes
await libre-invisible
kubectl apply -f 7-hors-de-kueue/file-par-defaut.yaml
kubectl wait --for=condition=Active localqueue/default -n equipe-vision --timeout=30s
kubectl create -f 7-hors-de-kueue/oubli.yaml
await porte-par-defaut

# lire
answer workload-de-cinema "$(kubectl get workloads -n equipe-vision -l "kueue.x-k8s.io/job-uid=$(kubectl get job cinema -n equipe-vision -o jsonpath='{.metadata.uid}')" \
  -o jsonpath='{.items[0].metadata.name}')"
answer raison-de-fin
answer evenement-de-depart
answer ou-est-passe-le-temps
kubectl create -f 8-lire/mystere.yaml
await mystere-attend
answer cause-du-mystere
await trouver-cause
