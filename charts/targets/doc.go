// Package targets tests the chart of the reference systems as it renders. It
// owns no code; the chart is the folder around it, and installing it is the
// business of the cluster tests.
package targets
