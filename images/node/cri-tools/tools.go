//go:build tools

// Package tools pins the version of cri-tools that is built where releases cannot be downloaded.
package tools

import (
	_ "sigs.k8s.io/cri-tools/cmd/crictl"
)
