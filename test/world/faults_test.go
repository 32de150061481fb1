package world

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/instant"
)

// restart ends the operator, and starts another after a while.
func restart(away, noticed, skew time.Duration) func(*World) {
	return func(w *World) {
		old := w.leader
		if old == nil {
			return
		}
		old.dies(noticed)
		w.jumped = w.jumped || skew != 0
		w.slack += away + noticed + skew.Abs()
		w.After(away, func() {
			if w.leader == nil {
				w.startOperator(old.skew + skew)
			}
		})
	}
}

// secondOperator takes over while the first goes on for a while, with a cache that
// stands still and the sessions that it has.
func secondOperator(w *World) {
	old := w.leader
	if old == nil {
		return
	}
	const overlap = 5 * time.Second
	w.slack += overlap
	old.lag = time.Hour
	w.startOperator(old.skew)
	w.After(overlap, func() {
		if old.alive {
			old.dies(reconnect)
		}
	})
}

// cachesBehind delays the watch of the operator for a while.
func cachesBehind(lag, d time.Duration) func(*World) {
	return func(w *World) {
		o := w.leader
		if o == nil {
			return
		}
		o.lag = lag
		w.slack += 10 * lag
		w.After(d, func() {
			if o.lag == lag {
				o.lag = 0
			}
		})
	}
}

// podsBehind has the watches of the Job and the pods bring nothing for a while; each watch
// is one by itself.
func podsBehind(d time.Duration) func(*World) {
	return func(w *World) {
		o := w.leader
		if o == nil {
			return
		}
		w.slack += d
		o.podsBehind = w.now.Add(d)
		w.After(d, func() {
			if now := w.api.copy(); o.alive && o.cache.lt != nil && !w.now.Before(o.podsBehind) {
				o.cache.job, o.cache.jobs, o.cache.pods = now.job, now.jobs, now.pods
				o.enqueue()
			}
		})
	}
}

// apiServerAway lets nothing be read or written for a while.
func apiServerAway(d time.Duration) func(*World) {
	return func(w *World) {
		w.apiAway = instant.Later(w.apiAway, w.now.Add(d))
		w.slack += d + 2*lastRetry
	}
}

// resultRefsused refuses every archive for a while, as a quota does.
func resultRefsused(d time.Duration) func(*World) {
	return func(w *World) {
		w.quotaUntil = instant.Later(w.quotaUntil, w.now.Add(d))
		const steps = 8 // more than any story has
		w.slack += steps * maxStoreTries * storeRetry
	}
}

// victim is a worker, another at each instant.
func (w *World) victim() *Worker { return w.Workers[w.events%len(w.Workers)] }

// cutOff cuts one worker off. For how long decides whether it is harm.
func cutOff(d time.Duration) func(*World) {
	return func(w *World) {
		w.slack += d + deadPeer
		w.isolated, w.unreachable = w.isolated || d > deadPeer, true
		w.victim().isCutOff(d)
	}
}

// configuredFor puts a configuration in force for a while. A run that has begun may end by
// it.
func configuredFor(d time.Duration, what, document string) func(*World) {
	return func(w *World) {
		w.harmed = true
		w.slack += d
		w.configures(what, document)
		w.After(d, func() { w.configures("nothing", "") })
	}
}

// faults are all that is inserted at every instant.
var faults = []fault{
	{"runs are stopped for 20 s", configuredFor(20*time.Second, "stop", "stop: {by: jane, reason: incident 4711}")},
	{"runs are stopped for 1 ms", configuredFor(time.Millisecond, "stop", "stop: {}")},
	{"another run comes first", another(20 * time.Second)},
	{"the operator restarts", restart(2*time.Second, 300*time.Millisecond, 0)},
	{"the operator restarts before the workers notice", restart(100*time.Millisecond, time.Second, 0)},
	{"the operator's node is gone", restart(16*time.Second, deadPeer, 0)},
	{"the operator is away for 90 s", restart(90*time.Second, 300*time.Millisecond, 0)},
	{"the operator restarts with a clock 40 s ahead", restart(2*time.Second, 300*time.Millisecond, 40*time.Second)},
	{"the operator restarts with a clock 40 s behind", restart(2*time.Second, 300*time.Millisecond, -40*time.Second)},
	{"a second operator takes over", secondOperator},
	{"a notification is lost", func(w *World) { w.dropNotices++ }},
	{"reads are behind by 300 ms", cachesBehind(300*time.Millisecond, 5*time.Second)},
	{"reads are behind by 2 s", cachesBehind(2*time.Second, 10*time.Second)},
	{"the Job and the pods are seen 2 s late", podsBehind(2 * time.Second)},
	{"a write fails", func(w *World) { w.failWrites++; w.slack += lastRetry }},
	{"a write is made and reported as failed", func(w *World) { w.failAfterWrites++; w.slack += lastRetry }},
	{"results are refused for a second", resultRefsused(time.Second)},
	{"results are refused for 10 min", resultRefsused(10 * time.Minute)},
	{"the API server is away for 10 s", apiServerAway(10 * time.Second)},
	{"the API server is away for 3 min", apiServerAway(3 * time.Minute)},
	{"a worker dies", func(w *World) {
		w.harmed = true
		w.victim().end("OOMKilled, exit code 137", 0)
	}},
	{"a worker's pod is deleted with grace", func(w *World) {
		w.harmed = true
		w.victim().leave()
	}},
	{"a worker is cut off for 5 s", cutOff(5 * time.Second)},
	{"a worker is cut off for 31 s", cutOff(31 * time.Second)},
	{"a worker is cut off for 120 s", func(w *World) {
		w.harmed = true
		cutOff(2 * time.Minute)(w)
	}},
}
