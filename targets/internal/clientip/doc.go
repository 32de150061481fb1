// Package clientip names the client of a request: its peer, or whom a trusted
// proxy says that it speaks for.
//
// It owns X-Forwarded-For, and imports the standard library only.
package clientip
