{{- define "kueue.labels" -}}
app.kubernetes.io/name: kueue
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
control-plane: controller-manager
{{- end }}

{{- define "kueue.selector" -}}
app.kubernetes.io/name: kueue
control-plane: controller-manager
{{- end }}

{{/* One client configuration of a webhook: the manager fills in the CA bundle. */}}
{{- define "kueue.client" -}}
admissionReviewVersions: [v1]
sideEffects: None
clientConfig:
  service:
    name: kueue-webhook-service
    namespace: {{ .Release.Namespace }}
    path: {{ .path }}
{{- end }}

{{/* The configuration file; where cert-manager makes the certificate, the manager must not. */}}
{{- define "kueue.configuration" -}}
{{ .Values.managerConfig.controllerManagerConfigYaml }}
{{- if and .Values.enableCertManager (not (regexMatch "(?m)^internalCertManagement:" .Values.managerConfig.controllerManagerConfigYaml)) }}
internalCertManagement:
  enable: false
{{- end }}
{{- end }}

{{/* Asks cert-manager to write its CA bundle into an object. */}}
{{- define "kueue.injection" -}}
{{- if .Values.enableCertManager }}
annotations:
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/kueue-serving-cert
{{- end }}
{{- end }}

{{/* Jobs of the system's namespaces are nobody's business here. */}}
{{- define "kueue.jobNamespaces" -}}
namespaceSelector:
  matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values: [kube-system, {{ .Release.Namespace }}]
{{- end }}

{{/* Jobs without a queue are only held up for a manager that is away where all jobs are managed. */}}
{{- define "kueue.unqueuedPolicy" -}}
{{- if regexMatch "(?m)^manageJobsWithoutQueueName:\\s*true" .Values.managerConfig.controllerManagerConfigYaml }}Fail{{ else }}Ignore{{ end }}
{{- end }}

{{/* The job kinds that are managed: name of the webhook, and the API. The same list as jobs::KINDS; a test compares them. */}}
{{- define "kueue.jobKinds" -}}
- {name: job, group: batch, version: v1, plural: jobs}
- {name: jobset, group: jobset.x-k8s.io, version: v1alpha2, plural: jobsets}
- {name: pytorchjob, group: kubeflow.org, version: v1, plural: pytorchjobs}
- {name: tfjob, group: kubeflow.org, version: v1, plural: tfjobs}
- {name: xgboostjob, group: kubeflow.org, version: v1, plural: xgboostjobs}
- {name: paddlejob, group: kubeflow.org, version: v1, plural: paddlejobs}
- {name: jaxjob, group: kubeflow.org, version: v1, plural: jaxjobs}
- {name: mpijob, group: kubeflow.org, version: v2beta1, plural: mpijobs}
- {name: rayjob, group: ray.io, version: v1, plural: rayjobs}
- {name: raycluster, group: ray.io, version: v1, plural: rayclusters}
- {name: rayservice, group: ray.io, version: v1, plural: rayservices}
- {name: appwrapper, group: workload.codeflare.dev, version: v1beta2, plural: appwrappers}
- {name: trainjob, group: trainer.kubeflow.org, version: v1alpha1, plural: trainjobs}
- {name: sparkapplication, group: sparkoperator.k8s.io, version: v1beta2, plural: sparkapplications}
{{- end }}

{{/* Pods that name a queue are held up for a manager that is away only where pods are looked after. */}}
{{- define "kueue.podPolicy" -}}
{{- $config := fromYaml .Values.managerConfig.controllerManagerConfigYaml | default dict }}
{{- $frameworks := dig "integrations" "frameworks" (list) $config }}
{{- $looked := false }}
{{- range list "pod" "deployment" "statefulset" "leaderworkerset.x-k8s.io/leaderworkerset" }}{{ if has . $frameworks }}{{ $looked = true }}{{ end }}{{ end }}
{{- if $looked }}Fail{{ else }}Ignore{{ end }}
{{- end }}

{{/* Kinds that serve: their pods are held back, they themselves are not. The same list as jobs::serving::KINDS. */}}
{{- define "kueue.servingKinds" -}}
- {name: deployment, group: apps, version: v1, plural: deployments}
- {name: statefulset, group: apps, version: v1, plural: statefulsets}
- {name: leaderworkerset, group: leaderworkerset.x-k8s.io, version: v1, plural: leaderworkersets}
{{- end }}

{{/* The kinds that Kubernetes' own roles for people know nothing about. */}}
{{- define "kueue.kindsOfPeople" -}}
{{ include "kueue.jobKinds" . }}
{{- range $kind := include "kueue.servingKinds" . | fromYamlArray }}
{{- if contains "." $kind.group }}
- {{ toJson $kind }}
{{- end }}
{{- end }}
{{- end }}

{{/* One that names a queue is held up for a manager that is away only where its framework is on. */}}
{{- define "kueue.servingPolicy" -}}
{{- $config := fromYaml .Values.managerConfig.controllerManagerConfigYaml | default dict }}
{{- $frameworks := dig "integrations" "frameworks" (list) $config }}
{{- if or (has .serving $frameworks) (has (printf "%s/%s" .group .serving) $frameworks) }}Fail{{ else }}Ignore{{ end }}
{{- end }}

{{/* A pod that names a queue, or whose parent has it held back. CEL, because annotations cannot be selected. */}}
{{- define "kueue.queuedPod" -}}
(has(object.metadata.labels) && 'kueue.x-k8s.io/queue-name' in object.metadata.labels) || (has(object.metadata.annotations) && 'kueue.x-k8s.io/pod-suspending-parent' in object.metadata.annotations)
{{- end }}

{{/* A pod that has, or had before the update, a label or an annotation of Kueue's. */}}
{{- define "kueue.podWithKeys" -}}
(has(object.metadata.labels) && object.metadata.labels.exists(key, key.startsWith('kueue.x-k8s.io/'))) || (has(object.metadata.annotations) && object.metadata.annotations.exists(key, key.startsWith('kueue.x-k8s.io/'))) || (oldObject != null && ((has(oldObject.metadata.labels) && oldObject.metadata.labels.exists(key, key.startsWith('kueue.x-k8s.io/'))) || (has(oldObject.metadata.annotations) && oldObject.metadata.annotations.exists(key, key.startsWith('kueue.x-k8s.io/')))))
{{- end }}
