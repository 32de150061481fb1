// Package redisconn says how the targets reach Redis.
//
// It owns what their clients have in common (Options), and how questions that are
// asked at about the same time share a round trip (Batcher). It opens no client,
// and knows no target.
package redisconn
