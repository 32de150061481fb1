// Package experiment lists the published experiments as they are run again: for each
// published column the overlay under config/samples/seeds, the preset of the chart of
// targets that it asks for, and the load tests whose figures were published.
//
// It is data, and imports nothing.
package experiment
