//go:build tools

// Package tools pins the version of kwok that is built where releases cannot be downloaded.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
