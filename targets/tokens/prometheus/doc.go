// Package prometheus shows the counts of a service as metrics.
package prometheus
