// Package daemon runs real servers for tests: databases, brokers, proxies.
//
// It owns their processes, which end with the tests at the latest, however
// those end, and their addresses. Only packages of test helpers import it; it
// is about no particular server.
package daemon
