// Package targets tests the chart of the reference systems: what it renders for
// every preset, that a real API server takes it in a namespace of restricted
// pods, and that its passwords last. It owns no code; the chart is the folder
// around it, and running it is the business of the cluster tests. The tests may
// import test/apiserver of this module.
package targets
