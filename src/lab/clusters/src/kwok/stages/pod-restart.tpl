{{ $now := Now }}
{{ $code := index (or .metadata.annotations dict) "@EXIT_CODE@" | default "0" | atoi }}
{{ $statuses := .status.containerStatuses }}
containerStatuses:
{{ range $index, $item := .spec.containers }}
{{ $origin := index $statuses $index }}
- name: {{ $item.name | Quote }}
  image: {{ $item.image | Quote }}
  imageID: "simulated"
  ready: true
  started: true
  restartCount: {{ add $origin.restartCount 1 }}
  lastState:
    terminated:
      exitCode: {{ $code }}
      reason: Error
      startedAt: {{ $origin.state.running.startedAt | Quote }}
      finishedAt: {{ $now | Quote }}
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
