// Package multicall lets one program be several: it chooses among mains by the
// name that the program is called under.
// It imports the standard library only, so that its test links no Kubernetes.
package multicall
