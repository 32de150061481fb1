// Package postgres is a store of links and clicks in one Postgres, reached
// directly or through a PgBouncer in transaction mode.
//
// It owns the schema, the statements and how connections are held. It imports
// the domain and pgx. A session is never relied upon: between two statements
// PgBouncer may give this client another connection of the server.
//
//	links   one row for each code, which is unique
//	clicks  one row for each click, which is its own record that it was counted
//	shard   one row, which says which of how many shards the database is
//
// The number of shards decides where a code is looked for. A store therefore does
// not open a database that was made as another shard than it is configured as.
//
// # How a click is counted once
//
// A click's id is the primary key of its row: a click that is delivered again
// changes nothing, in whatever batch it comes. There is no counter that all
// clicks on a popular link would wait for, and every click can be audited by
// itself.
//
// Rows are kept for Retention and then folded into the clicks column of their
// link, in one statement, so that no reader finds a click twice or not at all.
// A click that was delivered again after that would count again. A broker
// keeps events for seven days and lets a segment of its log grow for seven
// more, by default: 15 days after a click was stored its event is gone, so
// that nothing can deliver it. A Redis queue forgets nothing by itself; there
// the bound is that a consumer which stored a batch and died before it said so
// comes back within 15 days.
//
// A link that has expired gives its code up to a new one, which has a new id
// and starts without clicks. The old clicks count in Totals until they are
// folded.
package postgres
