// Package format writes durations, rates and shares for people, as status columns and
// reports show them. It is pure and may import the standard library only.
package format
