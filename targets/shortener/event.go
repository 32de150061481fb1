package shortener

// Event is something that is counted. The set is closed, and each event is one
// metric.
type Event int

// The events that are counted, each with the package that counts it.
const (
	LinkCreated      Event = iota // this package
	Collision                     // this package: a random code that was taken
	Redirected                    // http
	RateLimited                   // http
	CacheHit                      // the cache
	CacheNegativeHit              // the cache: known not to exist
	CacheMiss                     // the cache: asked the store
	CacheFailure                  // the cache: Redis failed or was not asked, and the store answered
	ClickQueued                   // what queues clicks: accepted for delivery
	ClickStored                   // consumers, Synchronous and Rescue: added to the store
	ClickDuplicate                // consumers: delivered again, and stored before
	ClickLost                     // what queues clicks: neither delivered nor rescued
	ClickRejected                 // consumers: not readable as a click
	events
)

// Events returns every event.
func Events() []Event {
	all := make([]Event, events)
	for i := range all {
		all[i] = Event(i)
	}
	return all
}

// Count counts n of an event. It may be called concurrently.
type Count func(e Event, n int)
