// Package redis is the shortener's use of Redis: a cache of links, and a queue of
// clicks with its consumer.
//
// It owns the keys, the connections and the circuit breaker. It imports the
// domain, go-redis and what bounds failures around it, and no other package of
// the target.
//
//	url:<code>      a link (+, see entry.go), or - for a code that has none; it
//	                lives for CacheConfig.TTL and never longer than the link, or
//	                for CacheConfig.NegativeTTL
//	url-generation  which negative entries count
//	clicks          a stream of clicks that the store has not counted yet, read by
//	                the consumer group clicks
//
// # Cache
//
// Lookups that arrive while another is in flight are sent together as one MGET, so
// that a redirect under load costs a fraction of a round trip. Concurrent misses of
// a code are one query to the store. When Redis fails the store answers; after five
// failures in a row the breaker opens for 30 s, and closes after two successes.
//
// A code without a link gets a negative entry only if it has none of a link, whereas
// a new link replaces any entry (SET): a late negative answer does not hide a link
// that was created meanwhile. Links that come by another way, and those whose entry
// could not be written, change the generation of negative entries, which every
// lookup reads before it asks the store: all negative entries before are void, those
// of lookups in flight among them. A replica that could not write does it as soon as
// Redis answers it again; where it ends before, an old negative entry may hide the
// link until its time is over. Where the store did not say whether it created a link,
// no negative entry of its code is kept.
//
// # Clicks
//
// A redirect is answered when Redis has its click, so that a replica may be
// killed without loss. While Redis does not answer, clicks wait in memory, as
// many as QueueConfig.Buffer says, and QueueConfig.Rescue stores each of them
// before its redirect is answered. The consumer acknowledges an entry after
// the store has committed it, and deletes it with that; what a consumer that
// died had read is claimed by another, which then strikes its name off the
// group. A click may come more than once that way, and the store counts it by
// its id.
//
// The stream has no time to live: a Redis that evicts must spare such keys
// (maxmemory-policy volatile-lru, or noeviction).
package redis
