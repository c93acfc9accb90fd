//go:build tools

// Package tools pins the version of coredns that is built where releases cannot be downloaded.
package tools

import (
	_ "github.com/coredns/coredns"
)
