// Package v1alpha1 is the operator's configuration, which the administrator writes: what
// LoadTests may be aimed at, how large they may be, how many run at once, what a worker's
// pod may ask for, and the switch that stops them all.
//
// It stands in a ConfigMap of the operator's namespace, under the key config.yaml, as a
// document of YAML with apiVersion config.loadtest.dev/v1alpha1 and kind
// OperatorConfiguration. Under the key stop.yaml stands a Switch. Both are read again when
// they change. This package holds types alone; package controllers/policy reads, checks
// and applies them.
//
// Rules are chosen by namespace: a rule without namespaces is about all of them.
//
// +kubebuilder:object:generate=true
// +groupName=config.loadtest.dev
package v1alpha1
