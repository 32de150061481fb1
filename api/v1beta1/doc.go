// Package v1beta1 is the API that users write and read: the LoadTest resource
// of group loadtest.dev.
//
// It holds types, their validation (markers and CEL rules, enforced by the API
// server) and the names of conditions and reasons. It decides nothing and may
// import nothing else of this module.
//
// All loads are totals over all workers. Durations are strings such as "30s",
// rates are decimal strings such as "0.5"; there are no floats.
//
// +kubebuilder:object:generate=true
// +groupName=loadtest.dev
package v1beta1
