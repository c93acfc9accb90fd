#!/usr/bin/env bash
# The chart is installed, but where no documentation will look for it.
set -euo pipefail
helm install kueue ~/kueue --namespace kueue --create-namespace
