{{ $now := Now }}
conditions:
- type: Ready
  status: "True"
  reason: ""
  message: ""
  lastTransitionTime: {{ $now | Quote }}
- type: ContainersReady
  status: "True"
  reason: ""
  message: ""
  lastTransitionTime: {{ $now | Quote }}
