// Package replica makes a process one of the operator's replicas: it waits for the API server and
// for definitions of the operator's kinds that have all its fields, answers the kubelet's probes,
// competes for the lease, takes over, and stops in time.
//
//	process ─▶ probes, not ready
//	        ─▶ certificate, definitions, caches are read ─▶ ready: a standby
//	        ─▶ the lease is acquired ─▶ not ready
//	        ─▶ workers are served, their Service leads here ─▶ ready: the leader
//	        ─▶ the lease is lost ─▶ the process starts over
//
// It also serves the metrics, and has the checks that helm test runs (`manager check`). What
// a leader does is wired in cmd.
//
//	replica.go, lease.go, restart.go    the course above
//	certificate.go, leader_endpoint.go  how workers trust the replica that leads, and find it
//	schemas.go, served_schema.go        the fields that the API server stores
//	metrics_server.go, scrape_access.go the metrics, and who may read them
//	memory.go, installation_check.go    the limit of the memory; the checks
//	configuration                       the administrator's configuration, as each replica reads it
package replica
