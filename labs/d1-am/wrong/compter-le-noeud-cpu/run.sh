#!/usr/bin/env bash
# Every node but the platform's counts as a GPU node, the CPU node included.
set -euo pipefail
answer noeuds-gpu
