// Package shortener is the domain of a URL shortener: short codes, the links
// that they lead to, and how often each was clicked.
//
// It owns links and their form (Link, ParseURL, IsCode), their creation and visits
// (Service), their distribution over several stores (Ring, Shards), clicks (Click),
// the links for load tests (Seeding), and the counted events (Event, Route). It
// uses the standard library only; what keeps, serves, queues and counts is the
// business of one package per technology, and cmd/shortener joins them:
//
//	                 cmd/shortener
//	  ┌──────────┬─────────┼─────────┬──────────┐
//	http     postgres    redis     kafka    prometheus     each imports its driver
//	  └──────────┴─────────┼─────────┴──────────┘          and the domain, and
//	                   shortener                           none of the others
//
// A visit asks the cache, if there is one, and the cache the store; then the
// click is stored (Synchronous) or queued, and the redirect answered. A
// consumer moves queued clicks to the store (Deliver), which counts each once.
//
// The system exists to be load tested: after a run, its links and clicks can be
// counted exactly (Store.Totals) and compared with the acknowledged requests.
package shortener
