//go:build !race

// Simulations run without the race detector, in which a timer of a bubble that has expired
// before it is waited for crashes Go 1.26 (runtime.(*timer).maybeRunChan).

package session

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/virtual"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// latency is what a simulated target takes for a request.
const latency = 5 * time.Millisecond

// simulate runs a test of a whole worker in virtual time, with its coordinator and its target in
// memory.
func simulate(t *testing.T, test func(t *testing.T, target *workertest.Target)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, workertest.InMemory(t, func(http.ResponseWriter, *http.Request) { <-time.After(latency) }))
	})
}

// of has a worker reach a simulated target.
func of(target *workertest.Target) func(*Config) {
	return func(c *Config) { c.Assembly.Dial, c.Assembly.Timer = target.Dial, virtual.NewTimer }
}

// Every kind of load runs through the whole worker: all that is due is sent, in its window, and
// the result is the server's count.
func TestEveryLoadIsSentAndCounted(t *testing.T) {
	const window, started = 3 * time.Second, 50 * time.Millisecond
	for name, tt := range map[string]struct {
		step *workerv1.Step
		n    int64 // of its share, which is every second of all
		want int64
	}{
		"paced":    {&workerv1.Step{Load: &workerv1.Step_PacedUsers{PacedUsers: &workerv1.PacedUsers{TotalRateMicros: 100e6, DurationNanos: int64(window)}}}, 5, 150},
		"closed":   {&workerv1.Step{Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: int64(window)}}}, 5, 5 * int64(window/latency)},
		"burst":    {&workerv1.Step{Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 3, LimitNanos: int64(window)}}}, 5, 15},
		"arrivals": {&workerv1.Step{Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 100e6, DurationNanos: int64(window)}}}, 150, 150},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, target *workertest.Target) {
				tt.step.Share, tt.step.Total = &workerv1.Share{First: 1, Stride: 2, Count: tt.n}, 2*tt.n
				c, w, s := readyWorker(t, workertest.Assignment(target.URL, tt.step), of(target))
				begin := time.Now().Add(started)
				s.send(t, start(0, started))
				final, got := c.waitForFinal(t, 0)
				q := got.Requests[0]
				if q.Sent != tt.want || q.Outcomes[measure.Success] != tt.want || got.Due != tt.want || got.Unsent != 0 || target.Served() != tt.want {
					t.Errorf("due %d, sent %d, %d succeeded, unsent %d; the server served %d; want %d of each and none unsent",
						got.Due, q.Sent, q.Outcomes[measure.Success], got.Unsent, target.Served(), tt.want)
				}
				if at := got.FirstStart.Add(-skew); !at.Equal(begin) || got.Lateness.Max() > 0 {
					t.Errorf("it began %v after its start, and was late by up to %v", at.Sub(begin), got.Lateness.Max())
				}
				if series, err := wire.ReadSeries(final.GetMeasurement(), window); err != nil || series == nil {
					t.Errorf("the series of the step: %v, %v", series, err)
				}
				s.send(t, acknowledge())
				w.finish(t, s)
			})
		})
	}
}

func TestReconnectInMidStepCountsNothingTwice(t *testing.T) {
	simulate(t, func(t *testing.T, target *workertest.Target) {
		const window = 10 * time.Second
		a := workertest.Assignment(target.URL, workertest.ClosedUsers(4, window))
		c, w, s := readyWorker(t, a, of(target))
		begin := start(0, 20*time.Millisecond)
		s.send(t, begin)
		first := c.waitForSnapshot(t, "a snapshot with requests", func(s *measure.Measurement) bool { return s.Requests[0].Sent > 0 })
		first.session.hangUp <- errors.New("the operator restarts")

		// A coordinator that was restarted sends everything again.
		s = c.waitForHello(t)
		s.send(t, assign(a))
		s.send(t, begin)
		c.waitUntilReady(t)
		final, got := c.waitForFinal(t, 0)
		if final.GetSequence() <= first.message.GetSnapshot().GetSequence() {
			t.Errorf("final sequence %d, want more than %d", final.GetSequence(), first.message.GetSnapshot().GetSequence())
		}
		s.send(t, begin) // too late: it must not run again
		s.send(t, acknowledge())
		w.finish(t, s)
		if want := 4 * int64(window/latency); got.Requests[0].Sent != want || target.Served() != want {
			t.Errorf("sent %d, the server served %d in the end, want %d", got.Requests[0].Sent, target.Served(), want)
		}
	})
}

// A worker that was told of a step says so to the next coordinator before it says that it is ready,
// though the step has not begun, and begins it as it was told. Whether any worker was told decides
// whether that coordinator may choose another instant.
func TestWorkerSaysWhichStepItIsInBeforeItIsReady(t *testing.T) {
	for name, told := range map[string]bool{"told": true, "not told": false} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, target *workertest.Target) {
				const ahead = 10 * time.Second
				a := workertest.Assignment(target.URL, workertest.ClosedUsers(1, time.Second))
				c, w, s := readyWorker(t, a, of(target))
				begin := time.Now().Add(ahead)
				if told {
					s.send(t, start(0, ahead))
					synctest.Wait()
				}
				s.hangUp <- errors.New("the operator restarts")
				s = c.waitForHello(t)
				s.send(t, assign(a))
				first := c.waitFor(t, "which step it is in, or that it is ready", func(m *workerv1.SessionRequest) bool {
					return m.GetSnapshot() != nil || m.GetReadiness().GetReady()
				}).message
				if is := first.GetSnapshot(); (is != nil) != told || is.GetStep() != 0 || is.GetFinal() {
					t.Errorf("its first message is %v, want a snapshot of step 0: %t", first, told)
				}
				if told {
					c.waitUntilReady(t)
				}
				another := begin.Add(time.Minute)
				s.send(t, start(0, time.Until(another)))
				if !told {
					begin = another
				}
				if _, got := c.waitForFinal(t, 0); !got.FirstStart.Add(-skew).Equal(begin) {
					t.Errorf("it began at %v, want %v", got.FirstStart.Add(-skew), begin)
				}
				s.send(t, acknowledge())
				w.finish(t, s)
			})
		})
	}
}

// A stop cuts within the instant in which it comes: no request begins after it.
func TestStopCutsAtOnce(t *testing.T) {
	simulate(t, func(t *testing.T, target *workertest.Target) {
		const ran = 1234 * time.Millisecond
		c, w, s := readyWorker(t, workertest.Assignment(target.URL, workertest.ClosedUsers(2, time.Hour)), of(target))
		s.send(t, start(0, 0))
		<-time.After(ran)
		s.send(t, stop(0))
		s.send(t, stop(0))
		stopped := time.Now()
		_, got := c.waitForFinal(t, 0)
		if took := time.Since(stopped); got.Window != ran || took > latency {
			t.Errorf("a window of %v, known %v after the stop; want %v, at once", got.Window, took, ran)
		}
		if q := got.Requests[0]; q.Outcomes[measure.Unfinished] != 2 || q.Response.Count() != q.Outcomes[measure.Success] {
			t.Errorf("%v of %d, with %d times; want one of each user unfinished", q.Outcomes, q.Sent, q.Response.Count())
		}
		w.finish(t, s)
	})
}

// A worker whose pod is deleted waits for the operator to receive its last report, for as long as another replica
// needs to take over, and for less than the 30 s in which it would be killed.
func TestShutdownWaitsForTheNextOperator(t *testing.T) {
	simulate(t, func(t *testing.T, target *workertest.Target) {
		c, w, s := readyWorker(t, workertest.Assignment(target.URL, workertest.ClosedUsers(1, time.Hour)), of(target))
		s.send(t, start(0, 0))
		<-time.After(time.Second)
		began := time.Now()
		w.cancel()
		c.waitForFinal(t, 0) // which is not acknowledged
		w.waitForEnd(t, ErrUnfinished)
		if waited := time.Since(began); waited < 12*time.Second || waited >= 30*time.Second {
			t.Errorf("it waited %v, want from 12s to less than 30s", waited)
		}
	})
}
