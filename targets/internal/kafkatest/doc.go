// Package kafkatest runs a real Apache Kafka for the tests of one binary: one
// node that is broker and controller at once (KRaft), on addresses of its own.
//
// It owns the broker and its folder, and nothing about topics.
// Only tests import it; it imports no target and no client. A machine without
// Java or without Kafka's jars fails the test and says how to get them: a
// queue that was never run against Kafka has not been tested.
//
// A broker takes seconds to start, so that the tests of a binary share one,
// which the first that asks for it starts, and which Main ends:
//
//	func TestMain(m *testing.M) { os.Exit(kafkatest.Main(m)) }
//	func TestX(t *testing.T)    { addr := kafkatest.Shared(t).Addr() }
//
// Tests keep apart by topics and groups of their own. A test may crash the
// broker and start it again with its data; it must not run in parallel then.
package kafkatest
