// Command shortener is one replica of the URL shortener (serve), one consumer
// of its clicks (clicks), what fills it before a load test (seed), or what asks
// a running one whether it works (check). It joins the domain to its
// technologies and owns the settings, the clock and the signals; nothing may
// import it.
//
//	main.go      the commands, and how the process ends
//	settings.go  the settings that commands share
//	serve.go     shortener serve; its settings in serveconfig.go
//	clicks.go    shortener clicks
//	seed.go      shortener seed
//	shards.go    the databases, and their background jobs
package main
