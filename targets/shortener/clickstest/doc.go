// Package clickstest is what every queue of clicks has to do: a suite that
// each of them runs against its real broker.
//
// It imports the domain and the standard library. It owns a store in memory that
// counts a click once, as the real ones do, and that can fail at the worst moments.
package clickstest
