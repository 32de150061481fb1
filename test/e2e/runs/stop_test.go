//go:build e2e

package runs

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	// stoppedRuns are as many as operator/values.yaml lets run in a namespace of this test.
	stoppedRuns = 20
	// sendingRuns is how many of them send when the switch is set; the others start.
	sendingRuns = 10
	// lateRuns are in the queue when runs are stopped, and as many are created afterwards.
	lateRuns = 3
	// lateLoad is what each of those sends: a hiccup of 0.3 s is less than 1% of it, and the last
	// of lateSends requests is due 0.7 s before its end, so that a busy machine sends it, too.
	lateLoad  = "rate: 19, rampTo: 1, duration: 20s"
	lateSends = 200
	// published is how long requests may come after the switch, as the documentation says.
	published = 3 * time.Second
	// quiet is for how long no request may come after the last one.
	quiet = 5 * time.Second

	incident = "incident 4711"
)

// stoppedSpec goes on for longer than the test, unless it is stopped. Each run has a path of
// its own, under which the target counts.
const stoppedSpec = `
target: {service: {name: counter}}
requests: [{name: name, http: {path: /NAME}}]
steps: [{name: load, LOAD}]
worker: {resources: {requests: {cpu: CPU, memory: 32Mi}}}
`

// TestStop sets the switch for a namespace while many of its runs send and start. The
// target's count says when the last request came: within published, or on a busy machine
// within 10 s.
func TestStop(t *testing.T) {
	runsAreStopped(t, "set", func(*testing.T) {}, published, 10*time.Second)
}

// TestStopByANewLeader sets it when the operator that led was just deleted.
func TestStopByANewLeader(t *testing.T) {
	cluster.OnlyFull(t)
	runsAreStopped(t, "leader deleted before", deleteLeader, 20*time.Second, 20*time.Second)
}

// runsAreStopped expects the last request atRest after the switch, and on a busy machine within.
func runsAreStopped(t *testing.T, name string, before func(*testing.T), atRest, within time.Duration) {
	s := newStop(t)
	before(t)
	machine := pressure.Start()
	pressed := press(t, s.Namespace)
	s.createLate("created")
	last := s.lastRequest(pressed.at, within)
	read := machine.Read()
	pressed.mustEnd(t, s.runs)
	s.mustBeCanceled(pressed.by)
	began := s.beganLate(pressed.by)
	fmt.Printf("stop: %d runs, last request %.1f s after the switch, %d began while stopped (%s; %s)\n", len(s.runs), last.Seconds(), began, name, read)
	if !read.Busy() {
		within = atRest
	}
	if began > 0 || last > within {
		t.Errorf("%d began, the last request came %s after the switch; want none, and at most %s", began, last, within)
	}
	s.resume()
}

// deleteLeader deletes the operator's leader, as a drain of its node does.
func deleteLeader(t *testing.T) {
	pod := cluster.AwaitLeader(t, "")
	must.Succeed(t, cluster.API.Delete(t.Context(), pod))
	t.Cleanup(func() {
		if err := cluster.AwaitOperator(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// stop is a namespace whose runs are stopped.
type stop struct {
	*testing.T
	cluster.Counter

	runs, late []*v1beta1.LoadTest
}

// newStop has runs of a namespace of their own begin.
func newStop(t *testing.T) *stop {
	t.Helper()
	s := &stop{T: t}
	var err error
	s.Counter, err = cluster.StartCounter(t.Context(), cluster.NamespaceNamed(t, "stop-"), "")
	must.Succeed(t, err)
	for i := range stoppedRuns {
		s.runs = append(s.runs, s.create(fmt.Sprintf("run-%d", i), "rate: 5, duration: 10m", "20m"))
	}
	for _, lt := range s.runs {
		cluster.Until(t, lt, "taken up", func(lt *v1beta1.LoadTest) bool { return lt.Status.StartTime != nil })
	}
	cluster.Soon(t, func(context.Context) error {
		if n := len(s.counts()); n < sendingRuns {
			return fmt.Errorf("%d runs send, want %d", n, sendingRuns)
		}
		return nil
	})
	s.createLate("queued")
	for _, lt := range s.late {
		cluster.Until(t, lt, "queued", func(lt *v1beta1.LoadTest) bool { return lt.Status.Phase == v1beta1.PhaseQueued })
	}
	return s
}

func (s *stop) create(name, load, cpu string) *v1beta1.LoadTest {
	s.Helper()
	return cluster.Create(s.T, s.Namespace, name, strings.NewReplacer("NAME", name, "LOAD", load, "CPU", cpu).Replace(stoppedSpec))
}

func (s *stop) createLate(name string) {
	s.Helper()
	for i := range lateRuns {
		s.late = append(s.late, s.create(fmt.Sprintf("%s-%d", name, i), lateLoad, "200m"))
	}
}

// counts are those of each run that has sent.
func (s *stop) counts() map[string]cluster.Counted {
	s.Helper()
	return s.MustRead(s.T)
}

// lastRequest is how long after an instant the last request was counted, at most. It reads
// the count until none may come any more, and for a while after that.
func (s *stop) lastRequest(since time.Time, within time.Duration) (last time.Duration) {
	s.Helper()
	var seen int64
	for end := since.Add(within + quiet); time.Now().Before(end); {
		var sum int64
		for _, c := range s.counts() {
			sum += c.Received
		}
		if sum > seen {
			seen, last = sum, time.Since(since)
		}
		must.Succeed(s.T, cluster.SleepUntil(s.Context(), time.Now().Add(50*time.Millisecond)))
	}
	return last
}

// mustBeCanceled holds each run to an end that says by whom and why, and that kept what
// it had measured.
func (s *stop) mustBeCanceled(by string) {
	s.Helper()
	counts := s.counts()
	for _, lt := range s.runs {
		cluster.Finish(s.T, lt)
		failed, finished := cluster.Condition(lt, v1beta1.ConditionCarriedOut), cluster.Condition(lt, v1beta1.ConditionFinished)
		if lt.Status.Verdict != v1beta1.VerdictCanceled || failed.Reason != v1beta1.ReasonStopped || !tells(failed.Message, by) || !tells(finished.Message, by) {
			s.Errorf("%s: verdict %s, %s: %q; want Canceled, Stopped by %s: %s", lt.Name, lt.Status.Verdict, failed.Reason, failed.Message, by, incident)
		}
		s.mustTellByEvent(lt, by)
		var sent, unfinished int64
		if r := lt.Status.Steps[0].Result; r != nil {
			sent, unfinished = r.Sent, r.Outcomes.Unfinished
		}
		if received := counts[lt.Name].Received; received > sent || received < sent-unfinished {
			s.Errorf("%s: the target was asked %d times; the status says %d sent, %d of them unfinished", lt.Name, received, sent, unfinished)
		}
	}
}

// tells says whether a message names the person and the reason.
func tells(message, by string) bool {
	return strings.Contains(message, "Stopped by "+by+": "+incident)
}

// mustTellByEvent waits for the Event of a stop.
func (s *stop) mustTellByEvent(lt *v1beta1.LoadTest, by string) {
	s.Helper()
	err := cluster.Try(s.Context(), cluster.Patience, func(ctx context.Context) error {
		var events corev1.EventList
		if err := cluster.API.List(ctx, &events, client.InNamespace(s.Namespace)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.InvolvedObject.UID == lt.UID && e.Reason == v1beta1.ReasonStopped && tells(e.Message, by) {
				return nil
			}
		}
		return fmt.Errorf("no Event of %s says by whom and why it is stopped", lt.Name)
	})
	if err != nil {
		s.Error(err)
	}
}

// beganLate counts the runs that began while they were not to. The others say why they wait.
func (s *stop) beganLate(by string) (began int) {
	s.Helper()
	counts := s.counts()
	for _, lt := range s.late {
		cluster.Until(s.T, lt, "observed", func(lt *v1beta1.LoadTest) bool {
			return lt.Status.Phase != "" && lt.Status.Phase != v1beta1.PhaseQueued
		})
		if lt.Status.StartTime != nil || counts[lt.Name].Received > 0 || s.hasJob(lt) {
			began++
			continue
		}
		why := cluster.Condition(lt, v1beta1.ConditionSuspended)
		if lt.Status.Phase != v1beta1.PhaseSuspended || why.Status != metav1.ConditionTrue || why.Reason != v1beta1.ReasonStopped || !tells(why.Message, by) {
			s.Errorf("%s: phase %s, Suspended %s, %s: %q; want it to wait, Stopped by %s: %s", lt.Name, lt.Status.Phase, why.Status, why.Reason, why.Message, by, incident)
		}
		if cluster.Condition(lt, v1beta1.ConditionQueued).Status == metav1.ConditionTrue {
			s.Errorf("%s is in the queue while it is held", lt.Name)
		}
		s.mustTellByEvent(lt, by)
	}
	return began
}

func (s *stop) hasJob(lt *v1beta1.LoadTest) bool {
	s.Helper()
	var jobs batchv1.JobList
	must.Succeed(s.T, cluster.API.List(s.Context(), &jobs, client.InNamespace(s.Namespace)))
	for i := range jobs.Items {
		if metav1.IsControlledBy(&jobs.Items[i], lt) {
			return true
		}
	}
	return false
}

// resume takes the switch back: what waited runs to its end, and what was ended stays so.
func (s *stop) resume() {
	s.Helper()
	ended, machine := s.counts(), pressure.Start()
	cluster.MustCommand(s.T, "kubectl", "loadtest", "resume", "--all", "-n", s.Namespace)
	for _, lt := range s.late {
		cluster.Finish(s.T, lt)
		cluster.IsPassed(s.T, lt, machine)
		if received, sent := s.counts()[lt.Name].Received, cluster.SentBy(lt); received != lateSends || sent != lateSends {
			s.Errorf("%s: the target was asked %d times, and the status says %d sent; want %d", lt.Name, received, sent, lateSends)
		}
	}
	for _, lt := range s.runs {
		if was, is := ended[lt.Name].Received, s.counts()[lt.Name].Received; is != was {
			s.Errorf("%s: the target was asked %d times more after its end", lt.Name, is-was)
		}
	}
}
