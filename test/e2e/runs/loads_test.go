//go:build e2e

package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// TestLoads compares what each kind of load sent with what the target counted, by load, by journey and by
// request, while a worker of one of them and then the operator that leads are lost in the middle of all. It
// runs beside no other test, which would wait for an operator, too.
func TestLoads(t *testing.T) {
	runTogether(t, "loads", loseLeader, []*loadCase{
		{name: "side by side", spec: sideBySideSpec, lost: "run-writers-0", check: sideBySide},
		{name: "without a worker", spec: twoLoadsSpec, lost: "run-readers-1", undecided: true, check: sideBySideWithoutAWorker},
		{name: "conditions", spec: conditionsSpec, prepare: createPeople, check: journeysWithConditions},
		{name: "kept values", spec: keptValuesSpec, check: valuesAreKept},
		{name: "replay", spec: replaySpec, prepare: writeLog, check: replayOfALog},
		{name: "sessions", spec: sessionsSpec, check: sessionsAtARate},
		{name: "logins", spec: loggedIn, prepare: createLogin, check: tokensAreRenewed},
	})
}

// runTogether runs LoadTests at once, loses workers in the middle of all, and then does something to the cluster.
func runTogether(t *testing.T, suite string, disturb func(*testing.T), cases []*loadCase) {
	ctx, s := t.Context(), &loadsSuite{}
	begin(t, cases)
	machine := pressure.Start()
	for _, c := range cases {
		c.lt = cluster.Create(t, c.counter.Namespace, "run", c.spec)
	}
	for _, c := range cases {
		cluster.Until(t, c.lt, "in its first step", hasBegun)
	}
	must.Succeed(t, cluster.SleepUntil(ctx, time.Now().Add(3*time.Second)))
	for _, c := range cases {
		c.loseAWorker(t)
	}
	must.Succeed(t, cluster.SleepUntil(ctx, time.Now().Add(3*time.Second)))
	disturb(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cluster.Finish(t, c.lt)
			if why := v1beta1.NotCarriedOut(c.lt.Status.Conditions); why != nil && (!c.aborts || why.Reason != v1beta1.ReasonAborted) {
				t.Fatalf("%s: %s", why.Reason, why.Message)
			}
			if !c.undecided && !c.aborts {
				cluster.IsPassed(t, c.lt, machine)
			}
			c.counted = c.counter.MustRead(t)
			c.check(t, s, c)
		})
	}
	fmt.Printf("%s: %d checks, %d wrong\n", suite, s.checks, s.wrong)
}

// loseLeader loses the operator that leads.
func loseLeader(t *testing.T) {
	must.Succeed(t, cluster.API.Delete(t.Context(), cluster.AwaitLeader(t, ""), client.GracePeriodSeconds(0)))
	t.Cleanup(func() {
		if err := cluster.AwaitOperator(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// loadCase is a LoadTest with a target of its own.
type loadCase struct {
	name, spec string
	// lost is the Job and the number of a worker that is lost in the middle; empty: none is. undecided says
	// that it is one that sends.
	lost      string
	undecided bool
	// aborts says that a threshold ends the run.
	aborts bool
	// prepare makes what the LoadTest names; nil: nothing.
	prepare func(*testing.T, *loadCase)
	check   func(*testing.T, *loadsSuite, *loadCase)

	counter cluster.Counter
	lt      *v1beta1.LoadTest
	counted map[string]cluster.Counted
	// paths are how often each path of a log is to be asked.
	paths map[string]int64
	// identity gives tokens to those who log in.
	identity cluster.Counter
}

// begin starts all targets at once, and makes what the LoadTests name.
func begin(t *testing.T, cases []*loadCase) {
	t.Helper()
	errs := make([]error, len(cases))
	var group sync.WaitGroup
	for i, c := range cases {
		ns := cluster.NamespaceNamed(t, "loads-")
		group.Go(func() { c.counter, errs[i] = cluster.StartCounter(t.Context(), ns, "") })
	}
	group.Wait()
	must.Succeed(t, errors.Join(errs...))
	for _, c := range cases {
		if c.prepare != nil {
			c.prepare(t, c)
		}
	}
}

// loseAWorker deletes the pod of the worker that is to be lost.
func (c *loadCase) loseAWorker(t *testing.T) {
	t.Helper()
	if c.lost == "" {
		return
	}
	at := strings.LastIndex(c.lost, "-")
	var pods corev1.PodList
	must.Succeed(t, cluster.API.List(t.Context(), &pods, client.InNamespace(c.lt.Namespace), client.MatchingLabels{
		"batch.kubernetes.io/job-name": c.lost[:at], "batch.kubernetes.io/job-completion-index": c.lost[at+1:],
	}))
	if len(pods.Items) != 1 {
		t.Fatalf("%d pods of worker %s", len(pods.Items), c.lost)
	}
	must.Succeed(t, cluster.API.Delete(t.Context(), &pods.Items[0], client.GracePeriodSeconds(0)))
}

// hasBegun says whether a run is in its first step, or its first loads are.
func hasBegun(lt *v1beta1.LoadTest) bool {
	if len(lt.Status.Loads) > 0 {
		return lt.Status.Loads[0].BeginTime != nil
	}
	return len(lt.Status.Steps) > 0 && lt.Status.Steps[0].StartTime != nil
}

// received is how often the target was asked under a name.
func (c *loadCase) received(name string) int64 { return c.counted[name].Received }

// loadsSuite counts the checks.
type loadsSuite struct{ checks, wrong int }

// same is a check that two numbers are equal.
func (s *loadsSuite) same(t *testing.T, what string, want, got int64) {
	t.Helper()
	s.holds(t, want == got, "%s: the target says %d, the LoadTest %d", what, want, got)
}

// holds is a check.
func (s *loadsSuite) holds(t *testing.T, ok bool, format string, args ...any) {
	t.Helper()
	s.checks++
	if !ok {
		s.wrong++
		t.Errorf(format, args...)
	}
}

// sideBySideSpec has loads of every kind: a rate, sessions, one that follows, and users in the background.
// Each request has a path of its own, under which the target counts.
const sideBySideSpec = `
target: {service: {name: counter}}
requests:
  - {name: read, http: {path: /loads-read}}
  - {name: write, http: {path: /loads-write}}
  - {name: ping, http: {path: /loads-ping}}
  - {name: login, weight: 0, http: {path: /loads-login}}
  - {name: pay, weight: 0, http: {path: /loads-pay}}
journeys:
  - {name: buy, steps: [{request: login}, {think: {min: 100ms, max: 300ms}}, {request: pay}]}
loads:
  - {name: readers, requests: [read], parallelism: 2, steps: [{name: all, rate: 40, duration: 20s}]}
  - {name: buyers, journeys: [buy], delay: 2s, steps: [{name: all, rate: 5, duration: 15s}]}
  - {name: writers, requests: [write], after: readers, delay: 1s, steps: [{name: all, rate: 20, duration: 5s}]}
  - {name: noise, requests: [ping], background: true, steps: [{name: all, users: 2, ratePerUser: 5, duration: 10m}]}
worker: {resources: {requests: {cpu: 50m, memory: 32Mi}}}
thresholds: [{metric: unsentRate, max: 5%}, {metric: downtime, max: 10%}]
`

// sideBySide has loads that begin with the run, after a delay, after another, and in the background. The one that
// begins after another loses its worker while it waits, which is replaced.
func sideBySide(t *testing.T, s *loadsSuite, c *loadCase) {
	lt := c.lt
	loads := loadTestsOf(t, lt)
	received := func(request string) int64 { return c.received("loads-" + request) }
	for i, requests := range [][]string{{"read"}, {"login", "pay"}, {"write"}, {"ping"}} {
		var sum int64
		for _, name := range requests {
			s.same(t, "request "+name, received(name), sentOf(loads[i], name))
			sum += received(name)
		}
		s.same(t, "load "+lt.Status.Loads[i].Name, sum, lt.Status.Loads[i].Result.Sent)
	}
	s.same(t, "together", received("read")+received("login")+received("pay")+received("write")+received("ping"), lt.Status.Together.Sent)
	buy := loads[1].Status.Steps[0].Result.Journeys[0]
	s.same(t, "journeys started", received("login"), buy.Started)
	s.same(t, "journeys completed", received("pay"), buy.Completed)
	s.holds(t, lt.Status.Loads[0].Result.Due == 800 && lt.Status.Loads[2].Result.Due == 100 && buy.Due == 75, "due are %d, %d and %d journeys, want 800, 100 and 75", lt.Status.Loads[0].Result.Due, lt.Status.Loads[2].Result.Due, buy.Due)

	start := func(i int) time.Time { return loads[i].Status.Steps[0].StartTime.Time }
	s.holds(t, start(3).Equal(start(0)), "the background begins at %s, the readers at %s", start(3), start(0))
	s.holds(t, start(1).Sub(start(0)) == 2*time.Second, "the buyers begin %s after the readers, want 2s", start(1).Sub(start(0)))
	after := start(2).Sub(loads[0].Status.Steps[0].CompletionTime.Time)
	s.holds(t, after >= time.Second, "the writers begin %s after the end of the readers, want 1s or more", after)
	s.holds(t, lt.Status.Loads[3].Ended, "the background was not ended with the others: %+v", lt.Status.Loads[3])
	t.Logf("loads: %+v", lt.Status.Loads)
}

// twoLoadsSpec has two loads, the first of which loses a worker.
const twoLoadsSpec = `
target: {service: {name: counter}}
requests: [{name: read, http: {path: /loads-read}}, {name: write, http: {path: /loads-write}}]
loads:
  - {name: readers, requests: [read], parallelism: 2, steps: [{name: all, rate: 20, duration: 30s}]}
  - {name: writers, requests: [write], steps: [{name: all, rate: 20, duration: 30s}]}
worker: {resources: {requests: {cpu: 50m, memory: 32Mi}}}
thresholds: [{metric: unsentRate, max: 5%}, {metric: downtime, max: 10%}]
`

// sideBySideWithoutAWorker: the load that has all of its workers has all of its requests, and the other says
// how many it may miss.
func sideBySideWithoutAWorker(t *testing.T, s *loadsSuite, c *loadCase) {
	lt := c.lt
	loads := loadTestsOf(t, lt)
	s.holds(t, lt.Status.Verdict == v1beta1.VerdictInconclusive && lt.Status.Loads[0].Verdict == v1beta1.VerdictInconclusive, "the verdict is %s, of the readers %s, want Inconclusive", lt.Status.Verdict, lt.Status.Loads[0].Verdict)
	s.same(t, "request write", c.received("loads-write"), sentOf(loads[1], "write"))
	s.isWithinMissing(t, loads[0], c.received("loads-read"))
	t.Logf("loads: %+v", lt.Status.Loads)
}

// isWithinMissing: what a worker that was lost had sent is within what the status says may be missing. Of users without a
// rate, and of sessions, it is not known how much that is, and the status says so.
func (s *loadsSuite) isWithinMissing(t *testing.T, lt *v1beta1.LoadTest, received int64) {
	t.Helper()
	var sent, most int64
	known := true
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		if step.State != v1beta1.StepComplete && step.MissingAtMost == nil {
			known = false
		}
		most += ptr.Deref(step.MissingAtMost, 0)
		if step.Result != nil {
			sent += step.Result.Sent
		}
	}
	message := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionFinished).Message
	missing := received - sent
	s.holds(t, missing >= 0 && (!known || missing <= most), "%s: %d requests are missing, and the status says at most %d", lt.Name, missing, most)
	s.holds(t, strings.Contains(message, "it is not known how many") != known, "%s: known: %t, and the status says: %s", lt.Name, known, message)
	t.Logf("%s: sent %d, received %d, missing at most %d, known: %t", lt.Name, sent, received, most, known)
}

// TestLoadsWithoutAWorker loses a worker of each kind of load: the run is Inconclusive, and what the target counted is what was
// sent, and what the status says may be missing.
func TestLoadsWithoutAWorker(t *testing.T) {
	cluster.OnlyFull(t)
	without := func(prefix string) func(*testing.T, *loadsSuite, *loadCase) {
		return func(t *testing.T, s *loadsSuite, c *loadCase) {
			s.holds(t, c.lt.Status.Verdict == v1beta1.VerdictInconclusive, "the verdict is %s, want Inconclusive", c.lt.Status.Verdict)
			var received int64
			for name, n := range c.counted {
				if strings.HasPrefix(name, prefix) {
					received += n.Received
				}
			}
			s.isWithinMissing(t, c.lt, received)
		}
	}
	runTogether(t, "loads without a worker", loseLeader, []*loadCase{
		{name: "conditions", spec: conditionsSpec, prepare: createPeople, lost: "run-1", undecided: true, check: without("loads-")},
		{name: "kept values", spec: keptValuesSpec, lost: "run-1", undecided: true, check: without("loads-")},
		{name: "replay", spec: replaySpec, prepare: writeLog, lost: "run-1", undecided: true, check: without("replay-")},
		{name: "sessions", spec: sessionsSpec, lost: "run-1", undecided: true, check: without("sessions-")},
		{name: "logins", spec: loggedIn, prepare: createLogin, lost: "run-1", undecided: true, check: without("run-guarded")},
	})
}

// loadTestsOf are the LoadTests of the loads.
func loadTestsOf(t *testing.T, lt *v1beta1.LoadTest) (list []*v1beta1.LoadTest) {
	t.Helper()
	for _, l := range lt.Status.Loads {
		one := &v1beta1.LoadTest{}
		must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: lt.Namespace, Name: l.Test}, one))
		list = append(list, one)
	}
	return list
}

// sentOf is how often a request was sent in all steps.
func sentOf(lt *v1beta1.LoadTest, request string) (sent int64) {
	for _, step := range lt.Status.Steps {
		if step.Result == nil {
			continue
		}
		for _, r := range step.Result.Requests {
			if r.Name == request {
				sent += r.Sent
			}
		}
	}
	return sent
}

// conditionsSpec has users, and then sessions, that poll until the target has counted to three, and every
// second of them carry out a step that a condition leaves out for the others.
const conditionsSpec = `
target: {service: {name: counter}}
parallelism: 2
data: [{name: people, format: CSV, from: {configMap: {name: people, key: people.csv}}}]
requests:
  - {name: order, weight: 0, http: {path: "/loads-order?after=-1"}}
  - {name: state, weight: 0, http: {path: "/loads-state?after=${count}"}}
  - {name: lounge, weight: 0, http: {path: /loads-lounge}}
  - {name: never, weight: 0, http: {path: "/loads-never?after=${count}"}}
journeys:
  - name: buy
    weight: 3
    user: {data: people}
    steps:
      - {request: order, capture: {count: .n}}
      - {repeat: {request: state, capture: {count: .n}, until: count >= 3, atMost: 5, every: 20ms}}
      - {if: tier == 'gold', request: lounge}
  - name: give-up
    weight: 1
    steps:
      - {request: order, capture: {count: .n}}
      - {repeat: {request: never, capture: {count: .n}, until: count > 100, atMost: 4}}
steps: [{name: users, users: 4, think: {min: 10ms, max: 30ms}, duration: 10s}, {name: rate, rate: 10, duration: 10s}]
worker: {resources: {requests: {cpu: 100m, memory: 32Mi}}}
thresholds: [{metric: failureRate, journeys: [give-up], max: 100%}, {metric: unsentRate, max: 5%}, {metric: downtime, max: 10%}]
`

// createPeople makes the rows of the users.
func createPeople(t *testing.T, c *loadCase) {
	t.Helper()
	people := &corev1.ConfigMap{Data: map[string]string{"people.csv": "person,tier\n1,gold\n2,iron\n3,gold\n4,iron\n"}}
	people.Namespace, people.Name = c.counter.Namespace, "people"
	must.Succeed(t, cluster.API.Create(t.Context(), people))
}

// journeysWithConditions has journeys that end, give up or leave a step out, as their conditions say.
func journeysWithConditions(t *testing.T, s *loadsSuite, c *loadCase) {
	lt, counted := c.lt, c.counted
	for _, name := range []string{"order", "state", "lounge", "never"} {
		s.same(t, "request "+name, counted["loads-"+name].Received, sentOf(lt, name))
	}
	var buy, giveUp, leftOut, unfinished int64
	for _, step := range lt.Status.Steps {
		j := step.Result.Journeys
		buy, giveUp = buy+j[0].Completed, giveUp+j[1].Failed
		unfinished += j[0].Unfinished + j[1].Unfinished
		for _, l := range j[0].LeftOut {
			leftOut += l.Times
		}
		s.holds(t, j[0].Failed == 0 && j[1].Completed == 0, "step %s: %d of buy failed, and %d of give-up completed", step.Name, j[0].Failed, j[1].Completed)
	}
	// What the end of a step cut may have sent a part of its requests.
	s.holds(t, buy > 0 && counted["loads-state"].Received >= 3*buy && counted["loads-state"].Received <= 3*(buy+unfinished), "the target had state %d times, for %d completed journeys that ask three times, and %d unfinished", counted["loads-state"].Received, buy, unfinished)
	s.holds(t, giveUp > 0 && counted["loads-never"].Received >= 4*giveUp && counted["loads-never"].Received <= 4*(giveUp+unfinished), "the target had never %d times, for %d journeys that give up after four, and %d unfinished", counted["loads-never"].Received, giveUp, unfinished)
	lounge := counted["loads-lounge"].Received
	s.holds(t, lounge > 0 && leftOut > 0 && lounge+leftOut >= buy && lounge+leftOut <= buy+unfinished, "the target had lounge %d times, and it was left out %d times, of %d completed journeys and %d unfinished", lounge, leftOut, buy, unfinished)
	t.Logf("buy %d, gave up %d, left out %d, unfinished %d, counted %v", buy, giveUp, leftOut, unfinished, counted)
}

// keptValuesSpec has users who log in when they have not yet, in three steps: some come in the second one, and some
// rest in the third.
const keptValuesSpec = `
target: {service: {name: counter}}
parallelism: 2
requests:
  - {name: login, weight: 0, http: {path: "/loads-login?after=-1"}}
  - {name: cart, weight: 0, http: {path: "/loads-cart?member=${member}"}}
journeys:
  - name: shop
    keepValues: true
    steps:
      - {if: member == null || status == 401, request: login, capture: {member: .n}}
      - {request: cart, times: 2}
steps:
  - {name: three, users: 3, think: {min: 10ms, max: 30ms}, duration: 5s}
  - {name: seven, users: 7, think: {min: 10ms, max: 30ms}, duration: 5s}
  - {name: five, users: 5, think: {min: 10ms, max: 30ms}, duration: 5s}
worker: {resources: {requests: {cpu: 100m, memory: 32Mi}}}
thresholds: [{metric: unsentRate, max: 5%}, {metric: downtime, max: 10%}]
`

// valuesAreKept has one login of each user, in the first step that it takes part in.
func valuesAreKept(t *testing.T, s *loadsSuite, c *loadCase) {
	for _, name := range []string{"login", "cart"} {
		s.same(t, "request "+name, c.received("loads-"+name), sentOf(c.lt, name))
	}
	s.same(t, "logins of 7 users in 3 steps", c.received("loads-login"), 7)
	for i, want := range []int64{3, 4, 0} {
		result := c.lt.Status.Steps[i].Result
		var leftOut int64
		for _, l := range result.Journeys[0].LeftOut {
			leftOut += l.Times
		}
		s.holds(t, result.Requests[0].Sent == want && result.Journeys[0].Started == want+leftOut, "step %s: %d logins, and %d left out, of %d journeys; want %d logins", c.lt.Status.Steps[i].Name, result.Requests[0].Sent, leftOut, result.Journeys[0].Started, want)
	}
	t.Logf("counted %v", c.counted)
}

// replaySpec has two workers send the lines of a file of a claim.
const replaySpec = `
target: {service: {name: counter}}
parallelism: 2
requests: [{name: item, http: {}}, {name: rest, http: {}}]
replay:
  from: {volume: {claim: loadtest-logs, path: access.log}}
  fields: time=time,method=method,path=path
  speed: 2
  duration: 20s
  routes: [{path: ^/replay-item, request: item}, {request: rest}]
worker: {resources: {requests: {cpu: 100m, memory: 64Mi}}}
thresholds: [{metric: unsentRate, max: 5%}, {metric: downtime, max: 10%}]
`

// replayOfALog has each line of the log once, and counts those that are left out.
func replayOfALog(t *testing.T, s *loadsSuite, c *loadCase) {
	lt, result := c.lt, c.lt.Status.Steps[0].Result
	var items, rest int64
	for name, n := range c.paths {
		s.same(t, "path "+name, c.received(name), n)
		if strings.HasPrefix(name, "replay-item") {
			items += n
		} else {
			rest += n
		}
	}
	s.same(t, "request item", items, sentOf(lt, "item"))
	s.same(t, "request rest", rest, sentOf(lt, "rest"))
	s.holds(t, result.Due == items+rest && result.Replay.NotParsed == 3 && result.Replay.OtherMethods == 5, "due %d, want %d; replay %+v, want 3 lines not parsed and 5 of other methods", result.Due, items+rest, result.Replay)
	t.Logf("replay: %+v, due %d, sent %d, late %d", result.Replay, result.Due, result.Sent, result.Late)
}

// writeLog writes 40 s of a log of 50 requests a second, three lines that are none and five POSTs, into a
// claim.
func writeLog(t *testing.T, c *loadCase) {
	t.Helper()
	folder := claim(t, c.counter.Namespace, "loadtest-logs")
	file, err := os.Create(filepath.Join(folder, "access.log"))
	must.Succeed(t, err)
	c.paths = map[string]int64{}
	begin := time.Date(2026, 11, 28, 19, 0, 0, 0, time.UTC)
	for i := range 2000 {
		name := []string{"replay-item-a", "replay-item-b", "replay-home"}[i%3]
		c.paths[name]++
		at := begin.Add(time.Duration(i) * 20 * time.Millisecond)
		_, err := fmt.Fprintf(file, "{\"time\":%q,\"method\":\"GET\",\"path\":\"/%s\"}\n", at.Format(time.RFC3339Nano), name)
		must.Succeed(t, err)
		if i%600 == 0 && i < 1800 {
			_, err = fmt.Fprintln(file, "no request")
			must.Succeed(t, err)
		}
		if i%400 == 0 {
			_, err = fmt.Fprintf(file, "{\"time\":%q,\"method\":\"POST\",\"path\":\"/replay-home\"}\n", at.Format(time.RFC3339Nano))
			must.Succeed(t, err)
		}
	}
	must.Succeed(t, file.Close())
	must.Succeed(t, os.Chmod(filepath.Join(folder, "access.log"), 0o644))
}
