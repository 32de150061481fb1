// Package samples has load tests to begin with (*.yaml), and under seeds those
// of the published experiments, each for its preset of the chart of targets.
//
// Its test keeps the data files beside them, which are generated, as they should
// be. That the API server takes every sample is a test of api/v1beta1.
package samples

import "embed"

// Files are the load tests of kubectl loadtest try.
//
//go:embed try-*.yaml
var Files embed.FS
