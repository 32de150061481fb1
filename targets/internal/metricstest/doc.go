// Package metricstest reads a page of metrics in tests.
package metricstest
