// Command crdtext makes the definitions shorter. It describes each field once. It describes a field of the status,
// which the operator writes, and a field of a type of Kubernetes by one sentence; docs/reference/api.md has the
// other sentences. It leaves out what the rest of a field's schema implies.
//
// controller-gen writes all descriptions of a type, such as a target, at each place that uses it. A definition that
// is larger than 256 KB cannot be applied by plain kubectl apply, which keeps the whole of it in an annotation.
// `make generate` runs the command.
package main
