// Package redisconn configures the targets' connections to Redis.
//
// It owns the common options of their clients (Options), and batches of concurrent
// calls in one round trip (Batcher). It opens no client, and imports no target.
package redisconn
