package plan

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// NamesType says whether a threshold names a type of requests: results have then what a
// perfect generator would have measured of it, for which there is not room of every type.
func NamesType(spec *v1alpha1.LoadTestSpec, name string) bool {
	return slices.ContainsFunc(spec.Thresholds, func(t v1alpha1.Threshold) bool { return slices.Contains(t.Types, name) })
}

// NamesRequest says likewise whether a threshold names a request.
func NamesRequest(spec *v1alpha1.LoadTestSpec, name string) bool {
	return slices.ContainsFunc(spec.Thresholds, func(t v1alpha1.Threshold) bool { return slices.Contains(t.Requests, name) })
}
