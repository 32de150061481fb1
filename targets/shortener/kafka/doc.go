// Package kafka brings clicks to the store by way of a topic of Kafka, or of
// what speaks its protocol, such as Redpanda.
//
// It owns the topic, the encoding of its records, a producer and a consumer.
// It imports the domain, franz-go and what bounds failures around it, and no
// other package of the target.
//
//	redirect → Producer → topic clicks → Consumer (group) → ClickStore
//	           buffer      JSON records   stores, then commits
//
// A redirect is answered when the broker has its click, so that a replica may
// be killed without loss. While no broker answers, clicks wait in memory, as
// many as ProducerConfig.Buffer says, and ProducerConfig.Rescue stores each of
// them before its redirect is answered. The producer is idempotent: a record that
// is sent again after a lost reply is in the topic once. The consumer commits
// its offsets after the store has committed the clicks. If it dies between the
// two, or a group changes hands, records are read again, and the store counts
// each click once by its id.
package kafka
