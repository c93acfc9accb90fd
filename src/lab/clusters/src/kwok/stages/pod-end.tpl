{{ $now := Now }}
{{ $code := index (or .metadata.annotations dict) "@EXIT_CODE@" | default "0" | atoi }}
{{ if .metadata.deletionTimestamp }}{{ $code = 143 }}{{ end }}
{{ $reason := ternary "Completed" "Error" (eq $code 0) }}
phase: {{ ternary "Succeeded" "Failed" (eq $code 0) }}
conditions:
- type: PodReadyToStartContainers
  status: "False"
  lastTransitionTime: {{ $now | Quote }}
- type: Ready
  status: "False"
  reason: {{ ternary "PodCompleted" "PodFailed" (eq $code 0) }}
  message: ""
  lastTransitionTime: {{ $now | Quote }}
- type: ContainersReady
  status: "False"
  reason: {{ ternary "PodCompleted" "PodFailed" (eq $code 0) }}
  message: ""
  lastTransitionTime: {{ $now | Quote }}
containerStatuses:
{{ $statuses := .status.containerStatuses }}
{{ range $index, $item := .spec.containers }}
{{ $restarts := 0 }}
{{ $started := $now }}
{{ if gt (len (or $statuses list)) $index }}
{{ $origin := index $statuses $index }}
{{ $restarts = $origin.restartCount }}
{{ with $origin.state.running }}{{ $started = .startedAt }}{{ end }}
{{ end }}
- name: {{ $item.name | Quote }}
  image: {{ $item.image | Quote }}
  imageID: "simulated"
  ready: false
  started: false
  restartCount: {{ $restarts }}
  state:
    terminated:
      exitCode: {{ $code }}
      reason: {{ $reason }}
      startedAt: {{ $started | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
