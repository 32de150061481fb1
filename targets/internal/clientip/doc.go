// Package clientip names the client of a request: its peer, or the address that a
// trusted proxy forwards.
//
// It owns X-Forwarded-For, and imports the standard library only.
package clientip
