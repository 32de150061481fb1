// Package redisconn says how the targets reach Redis.
//
// It owns what their clients have in common, and opens none; it knows no target.
package redisconn
