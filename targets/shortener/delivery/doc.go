// Package delivery is what every consumer of a queue of clicks does with those that
// it has read, whatever the queue: it stores them, for as long as that takes.
//
// It imports the domain and the library of retries, and knows no queue.
package delivery
