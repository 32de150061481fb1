// Package redis keeps token buckets in Redis, shared by every replica of the
// rate limiter.
//
// It owns the keys (ratelimit:tb:<client>, a hash of tokens and last_refill),
// their lifetime, the connection pool, and one implementation of
// ratelimiter.Limiter per strategy. It imports the domain and go-redis, and no
// other package of the target. It needs Redis 5 or later, where a script may
// ask for the time and write.
//
// Where a script decides, requests that arrive while others are in flight share a
// round trip: each is a run of the script with a reply of its own, and none that
// may have run is sent again. The other strategies compute between their round
// trips. A guard (see Guard) counts requests that were lost together as one
// failure.
//
// A bucket that denies is not written: time alone refills it, so nothing has
// changed. The instant is stored in whole microseconds, which Redis's own TIME
// gives and which a Lua number (a double) holds exactly until the year 2255.
package redis
