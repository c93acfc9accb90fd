//go:build tools

// Package tools pins the version of helm that is built where releases cannot be downloaded.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
