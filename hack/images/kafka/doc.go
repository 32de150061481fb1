// Package kafka keeps the jars of Apache Kafka in a folder of the cache, for
// the image and for tests that run a broker on the host.
//
//	pom.xml ── mvn ── a new folder ── compare with jars.sha256 ── CACHE/kafka-VERSION/libs
//
// The host's own Maven fetches them, so that its configuration says from
// where; what it brings is used only if every file has the digest that is
// recorded here. It has neither recipes nor images, and imports no other
// package of this module.
package kafka
