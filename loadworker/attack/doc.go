// Package attack drives one worker's share of a step against the target and
// measures it. It is the only package that imports vegeta's Attacker.
//
//	Runner ── keeps the connections from step to step
//	  └─ Execution ── one step: start, window, drain, cut; a snapshot at any time
//	      ├─ schedule ── due times: arrivals, sessions, or paced, closed and burst users; a log has its own
//	      ├─ scheduler ── sends a part of the schedule, and counts the outcomes
//	      │    ├─ feed ── chooses the next request and its connection
//	      │    │    ├─ userFeed: each user has its own
//	      │    │    ├─ arrivalFeed: arrivals take places, on idle or on shared ones
//	      │    │    ├─ recordedFeed: so do requests of a log, which are read ahead by package replay
//	      │    │    └─ sessionFeed: users who arrive take a place until their journey ends
//	      │    └─ driver ── sends the request, waits for the response
//	      │         ├─ loopDriver: an event loop
//	      │         ├─ streamDriver: one for HTTP/2, with several requests on a connection
//	      │         ├─ goroutineDriver: a goroutine for each connection
//	      │         ├─ vegetaDriver: vegeta's Attacker, for arrivals
//	      │         └─ attackerDriver: vegeta from end to end, where it is asked for
//	      └─ recorder ── counts and histograms, in shards
//	           └─ course ── slot by slot of the window, and the time of the users
//
// The life of one request of a user, on an event loop, call by call:
//
//	Execution.run                    a goroutine for each scheduler: driver.drive calls its run
//	scheduler.run                    start waits for the start of the step; then, until all has ended:
//	├─ wait
//	│   ├─ feed.next                 when the next request is due that has a connection
//	│   └─ driver.wait               loop.Wait: until then, or an event, such as a response (below)
//	└─ sendBatch                     up to 32 requests, before responses are read again
//	    └─ sendDue                   nothing, unless the next one is due
//	        ├─ feed.take             takes it from the queue; hit has its due and its ideal times
//	        └─ driver.send
//	            ├─ begin             false: too late to be sent (maySend); dropped frees the connection
//	            │   ├─ feed.render   the request with its values, from package source
//	            │   └─ recorder      noteSent, and after the warm-up countSent
//	            └─ loop.Send         writes it; the connection waits for events from now on
//
//	loop.Wait ─ response, error or timeout ─▶ loopDriver.done
//	├─ end
//	│   ├─ judge                     the outcome, and since when it could have been read
//	│   └─ recorder                  noteEnd, and after the warm-up countEnd
//	├─ ended
//	│   └─ feed.ended                the user pauses and thinks; enqueue has the due time of its next request
//	└─ sendAfter                     the request, if any, that became due while this one ended: sendDue
//
// A goroutineDriver hands the connection to its goroutine in send: that calls begin, Do, end
// and ended, and then sendBatch, as done does. Arrivals have no queue of users: their feed
// takes a place, and ended returns it.
//
// The scheduler is in send_loop.go, the feeds in user_next_request.go and
// arrival_next_request.go, each driver in a file of its name; which idle connection an arrival
// takes is in idle_connections.go.
//
// The client decides the driver: connections of our own clients on Linux go to
// event loops, one for each processor, all others do not. All drivers have the same
// results, since the scheduler alone decides what is due, sent and recorded; the
// tests run over each of them, in virtual time (Config.Timer and Config.Clock) unless
// sockets are their subject.
//
// Vegeta has no users, keeps no due times, cannot be cancelled and does not count
// requests that it never sent. So only arrivals, which have no users, go through
// its Attacker: its dispatcher runs the scheduler, and its workers, of which it
// starts more as responses slow down, carry the requests. Where the client is a
// nethttp.Pool, vegeta also makes the requests and sends them by net/http's client.
//
// Beside what is measured stands what a perfect generator would have measured: one that
// sends at once what it is free to send, and reads at once what has come. The feed knows when
// a request would have been sent (hit.idealSent) as it takes it, from when its user would have
// been free (userState.idealFree), and that from the service times so far. The rest is what
// the generator did to the load itself: requests that were displaced, or unsent by it, and
// users without a rate whom it held up. What an end of the step, or a process that did not
// run, left open is said to be open: requests are undecided, or their timeouts excused.
//
// All times of a step are durations since the beginning of its window, read from
// the monotonic clock. The window is half open: a request that is due at its end is
// not part of it. The warm-up comes before it: its requests are due at negative
// times, sent by the same driver, and not recorded.
package attack
