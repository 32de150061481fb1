// Package desired says what the children of a LoadTest look like: the Job of
// its workers.
//
// It is pure: the same LoadTest and configuration give the same object, byte
// for byte. It may import no client, clock or log.
package desired
