//go:build tools

// Package tools pins the version of the Training Operator that the image is built from.
package tools

import _ "github.com/kubeflow/training-operator/cmd/training-operator.v1"
