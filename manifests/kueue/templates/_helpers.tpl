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
