// Package memory keeps buckets in memory, for trying a load test without Redis. Limits
// are those of one process: replicas would not share them.
package memory
