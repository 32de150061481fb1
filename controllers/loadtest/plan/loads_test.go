package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// sideBySide is a LoadTest with these fields beside three requests and a journey.
func sideBySide(t *testing.T, fields string) *v1beta1.LoadTest {
	t.Helper()
	spec := yamlSpec(t, `{requests: [{name: follow, http: {path: /f}}, {name: create, http: {method: POST, path: /c}}, {name: pay, weight: 0, http: {path: /p}}],
		journeys: [{name: buy, steps: [{request: create}, {request: pay}]}], steps: [], `+fields+`}`)
	lt := &v1beta1.LoadTest{Spec: *spec}
	lt.Namespace, lt.Name = "shop", "sale"
	return lt
}

const readersAndBuyers = `loads: [{name: readers, requests: [follow], steps: [{name: all, rate: 500, duration: 5m}]},
	{name: buyers, journeys: [buy], after: readers, delay: 30s, parallelism: 3, search: {users: {min: 1, max: 10}, duration: 1s}}]`

// parts is what a LoadTest of a load has of its own.
func parts(lt *v1beta1.LoadTest) string {
	var list []string
	for _, r := range lt.Spec.Requests {
		weight := "default"
		if r.Weight != nil {
			weight = fmt.Sprint(*r.Weight)
		}
		list = append(list, r.Name+":"+weight)
	}
	for _, j := range lt.Spec.Journeys {
		list = append(list, "journey "+j.Name)
	}
	for _, s := range plan.Steps(&lt.Spec) {
		list = append(list, "step "+s.Name)
	}
	for _, th := range lt.Spec.Thresholds {
		list = append(list, fmt.Sprintf("threshold %s %v%v%v%v", th.Metric, th.Requests, th.Types, th.Journeys, th.Steps))
	}
	return lt.Name + ": " + strings.Join(list, ", ")
}

func TestEachLoadHasItsOwnRequestsStepsAndThresholds(t *testing.T) {
	for name, c := range map[string]struct {
		fields string
		want   []string
	}{
		"requests and journeys by name": {readersAndBuyers, []string{
			"sale-readers: follow:default, step all",
			"sale-buyers: create:0, pay:0, journey buy, step 1 users",
		}},
		"all of them where none is named": {"loads: [{name: a, steps: [{name: '1', users: 1, duration: 1s}, {name: '2', users: 2, duration: 1s}]}]", []string{
			"sale-a: follow:default, create:default, pay:0, journey buy, step 1, step 2",
		}},
		"a ladder": {"loads: [{name: a, ladder: {users: [5, 10], duration: 1s, rest: 1s}}, {name: b, requests: [follow], ladder: {rates: [7], duration: 1s}}], thresholds: [{metric: p50, max: 1s, steps: ['10']}]", []string{
			"sale-a: follow:default, create:default, pay:0, journey buy, step 5, step rest, step 10, threshold p50 [][][][10]",
			"sale-b: follow:default, step 7/s",
		}},
		"what the setup sends": {"setup: {fill: {request: create, count: 3}}, loads: [{name: a, requests: [follow], steps: [{name: s, users: 1, duration: 1s}]}, {name: b, steps: [{name: s, users: 1, duration: 1s}]}]", []string{
			"sale-a: follow:default, create:0, step s",
			"sale-b: follow:default, create:default, pay:0, journey buy, step s",
		}},
		"thresholds on what the setup sends in one load, and the steps in another": {`thresholds: [{metric: p50, max: 1s, requests: [create]}, {metric: p75, max: 1s, types: [Write]}, {metric: p90, max: 1s, requests: [create, follow], types: [Read]}],
			setup: {fill: {request: create, count: 3}}, loads: [{name: a, requests: [follow], steps: [{name: s, users: 1, duration: 1s}]}, {name: b, requests: [create], steps: [{name: s, users: 1, duration: 1s}]}]`, []string{
			"sale-a: follow:default, create:0, step s, threshold p90 [create follow][Read][][]",
			"sale-b: create:default, step s, threshold p50 [create][][][], threshold p75 [][Write][][]",
		}},
		"thresholds by load, request, type, journey and step": {`thresholds: [{metric: p50, max: 1s}, {metric: p75, max: 1s, loads: [buyers]}, {metric: p90, max: 1s, requests: [follow, create]},
			{metric: p95, max: 1s, types: [Write]}, {metric: p99, max: 1s, journeys: [buy]}, {metric: longest, max: 1s, steps: [all]}], ` + readersAndBuyers, []string{
			"sale-readers: follow:default, step all, threshold p50 [][][][], threshold p90 [follow][][][], threshold longest [][][][all]",
			"sale-buyers: create:0, pay:0, journey buy, step 1 users, threshold p50 [][][][], threshold p75 [][][][], threshold p90 [create][][][], threshold p95 [][Write][][], threshold p99 [][][buy][]",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, one := range plan.Loads(sideBySide(t, c.fields)) {
				got = append(got, parts(one))
			}
			same.As(t, "loads", c.want, got)
		})
	}
}

// What ends or holds the run stays with the LoadTest that has the loads; all else is that of each load.
func TestALoadIsHeldAndEndedByItsLoadTest(t *testing.T) {
	lt := sideBySide(t, "suspend: true, terminate: true, activeDeadlineSeconds: 9, ttlSecondsAfterFinished: 8, startDeadlineSeconds: 7, randomSeed: 9007199254740991, worker: {driver: Auto}, "+readersAndBuyers)
	lt.UID = "u"
	for i, one := range plan.Loads(lt) {
		s := &one.Spec
		if s.Suspend || s.Terminate || s.ActiveDeadlineSeconds != nil || s.TTLSecondsAfterFinished != nil || s.Loads != nil {
			t.Errorf("%s is held or ended by itself: %+v", one.Name, s)
		}
		if *s.StartDeadlineSeconds != 7 || s.Worker.Driver != v1beta1.DriverAuto || one.Labels[plan.LabelPartOf] != "sale" {
			t.Errorf("%s lacks what it has in common: %+v", one.Name, one)
		}
		if want := []int64{9007199254740991, 0}[i]; *s.RandomSeed != want {
			t.Errorf("%s has seed %d, want %d", one.Name, *s.RandomSeed, want)
		}
		if o := one.OwnerReferences; len(o) != 1 || o[0].UID != "u" || o[0].Kind != "LoadTest" || !*o[0].Controller || o[0].BlockOwnerDeletion != nil {
			t.Errorf("%s has owners %+v", one.Name, o)
		}
	}
	if !lt.Spec.Suspend || len(lt.Spec.Requests) != 3 {
		t.Error("the LoadTest itself was changed")
	}
}

func TestWorkersOfLoadsAreAdded(t *testing.T) {
	lt := sideBySide(t, `loads: [{name: a, parallelism: 3, requests: [follow], steps: [{name: s, users: 1, duration: 1s}]}, {name: b, journeys: [buy], steps: [{name: s, users: 5000, duration: 1s}]}]`)
	p, refusal := plan.New(lt, policy.Everything())
	if refusal != nil {
		t.Fatal(refusal)
	}
	same.As(t, "workers", 5, p.Workers)
	same.As(t, "workers of the queue", 5, plan.Workers(&lt.Spec))
	same.As(t, "loads", []v1beta1.LoadStatus{{Name: "a", Test: "sale-a"}, {Name: "b", Test: "sale-b"}}, p.Loads)
	if len(p.Steps) != 0 {
		t.Errorf("steps %v", p.Steps)
	}
}

func TestRefusedLoads(t *testing.T) {
	const one, two = "{name: a, requests: [follow], steps: [{name: s, rate: 60, duration: 1m}]}", "{name: b, requests: [create], steps: [{name: s, users: 60, duration: 1m}]}, {name: c, journeys: [buy], steps: [{name: s, rate: 50, duration: 1m}]}"
	none := policy.Limits{}
	for name, c := range map[string]struct {
		fields string
		limits policy.Limits
		want   string
	}{
		"accepted":                     {"loads: [" + one + ", " + two + "]", none, ""},
		"with steps":                   {"ladder: {users: [1], duration: 1s}, loads: [" + one + "]", none, "InvalidSpec: spec.loads: must not be set with ladder, steps, search, replay, repetitions, baseline, versus, audits or parallelism."},
		"after one that follows":       {"loads: [{name: x, after: a, steps: [{name: s, rate: 1, duration: 1s}]}, " + one + "]", none, "InvalidSpec: spec.loads[0].after: a must be a load that is before x in the list, and not in the background."},
		"after itself":                 {"loads: [{name: x, after: x, steps: [{name: s, rate: 1, duration: 1s}]}]", none, "InvalidSpec: spec.loads[0].after: x must be a load that is before x in the list, and not in the background."},
		"after one in the background":  {"loads: [{name: x, background: true, steps: [{name: s, rate: 1, duration: 1s}]}, {name: z, after: x, steps: [{name: s, rate: 1, duration: 1s}]}]", none, "InvalidSpec: spec.loads[1].after: x must be a load that is before z in the list, and not in the background."},
		"all in the background":        {"loads: [{name: x, background: true, steps: [{name: s, rate: 1, duration: 1s}]}]", none, "InvalidSpec: spec.loads: at least one load must not be in the background."},
		"a request that none sends":    {"loads: [{name: x, journeys: [buy], steps: [{name: s, rate: 1, duration: 1s}]}]", none, "InvalidSpec: spec.requests[0]: no load sends follow; name it in requests of one of spec.loads, or leave it out."},
		"a journey that none does":     {"loads: [{name: x, requests: [follow, create], steps: [{name: s, rate: 1, duration: 1s}]}]", none, "InvalidSpec: spec.journeys[0]: no load carries buy out; name it in journeys of one of spec.loads, or leave it out."},
		"a threshold about none":       {"thresholds: [{metric: p95, max: 1s, loads: [a], requests: [create]}], loads: [" + one + ", " + two + "]", none, "InvalidSpec: spec.thresholds[0]: no load has what p95 is about; correct its loads, requests, types, journeys or steps."},
		"users of Vegeta":              {"worker: {driver: Vegeta}, loads: [{name: x, requests: [follow], ladder: {users: [1], duration: 1s}}, " + two + "]", none, "InvalidSpec: spec.worker.driver: load x: must not be Vegeta with users: it sends rates; set rates, or driver Auto."},
		"a search with onBreach":       {"thresholds: [{metric: p95, max: 1s, onBreach: Abort}], loads: [" + one + ", {name: x, search: {users: {min: 1, max: 10}, duration: 1s}}]", none, "InvalidSpec: spec.thresholds: load x: onBreach of p95 must not be set with search, whose thresholds hold for every probe; remove it or, with spec.loads, set loads of the threshold to those without a search."},
		"a step that is none":          {"loads: [{name: x, steps: [{name: s, rate: 0, duration: 1s}]}]", none, "InvalidSpec: spec.loads[0].steps[0].rate: load x: must be greater than 0."},
		"a rung that is none":          {"loads: [{name: x, ladder: {rates: [1, 0], duration: 1s}}]", none, "InvalidSpec: spec.loads[0].ladder.rates[1]: load x: must be greater than 0."},
		"too high a ladder":            {"loads: [{name: x, ladder: {rates: [1, 200, 3], duration: 1s}}]", policy.Limits{Rate: 150}, "LimitExceeded: spec.loads[0].ladder.rates[1]: load x: sessions of up to 2 requests each send up to 400 requests per second, which is more than a LoadTest of namespace shop may have; at most 150 are accepted."},
		"ladders after each other":     {"loads: [{name: x, ladder: {users: [1, 2], duration: 1h, rest: 9h}}, {name: y, after: x, ladder: {users: [1], duration: 10h}}, {name: z, after: y, ladder: {users: [1], duration: 1s}}]", none, "InvalidSpec: spec.loads[2]: z may wait for 21h with its workers, at most 20h are accepted; shorten the loads before it."},
		"a wait of more than 20 hours": {"loads: [{name: x, steps: [{name: s, rate: 1, duration: 21h}]}, {name: z, after: x, steps: [{name: s, rate: 1, duration: 1s}]}]", none, "InvalidSpec: spec.loads[1]: z may wait for 21h with its workers, at most 20h are accepted; shorten the loads before it."},
		"too many workers together":    {"loads: [" + one + ", " + two + "]", policy.Limits{Workers: 2}, "LimitExceeded: spec.loads: the loads have up to 3 workers together, which is more than a LoadTest of namespace shop may have; at most 2 are accepted."},
		"too many setups together":     {"setup: {fill: {request: create, count: 3}}, loads: [" + one + ", {name: b, parallelism: 4, requests: [create], steps: [{name: s, users: 1, duration: 1m}]}, {name: c, journeys: [buy], steps: [{name: s, rate: 50, duration: 1m}]}]", policy.Limits{Users: 5}, "LimitExceeded: spec.loads: the loads have up to 6 connections for spec.setup, of which each worker has one, together, which is more than a LoadTest of namespace shop may have; at most 5 are accepted."},
		"too high a rate together":     {"loads: [" + one + ", " + two + "]", policy.Limits{Rate: 150}, "LimitExceeded: spec.loads: the loads have up to 160 requests per second together, which is more than a LoadTest of namespace shop may have; at most 150 are accepted."},
		"too long after each other":    {"loads: [" + one + ", {name: z, after: a, delay: 1m, steps: [{name: s, rate: 1, duration: 1m}]}]", policy.Limits{Duration: 2 * time.Minute}, "LimitExceeded: spec: the plan takes up to 3m, which is longer than a LoadTest of namespace shop may have; at most 2m is accepted: use shorter or fewer steps, repetitions or pauses."},
	} {
		t.Run(name, func(t *testing.T) {
			rules := policy.Everything()
			rules.Limits = c.limits
			_, refusal := plan.New(sideBySide(t, c.fields), rules)
			got := ""
			if refusal != nil {
				got = refusal.Reason + ": " + refusal.Message
			}
			same.As(t, "refusal", c.want, got)
		})
	}
}

// What a load has of a list stands elsewhere in the list that the user wrote.
func TestRefusalsOfALoadNameTheFieldThatWasWritten(t *testing.T) {
	const spec = `{target: {service: {name: shop}}, steps: [], requests: [{name: c, http: {path: /}}, {name: d, http: {path: /}}, {name: w, webSocket: {path: /ws, send: [a]}}],
		loads: [{name: one, requests: [c, d], steps: [{name: a, rate: 3, duration: 1s}]}, {name: two, requests: [w], steps: [{name: a, rate: 3, duration: 1s}]}]`
	journeys := strings.NewReplacer("[c, d]", "[c, d], journeys: [i]", "[w]", "[w], journeys: [j]", "target:", "journeys: [{name: i, steps: [{request: c}]}, {name: j, keepValues: true, steps: [{request: d}]}], target:").Replace(spec)
	for want, text := range map[string]string{
		"spec.requests[2].webSocket: load two: must not be set with worker.driver Vegeta, which sends requests of HTTP; use driver Auto.":                                            spec + ", worker: {driver: Vegeta}}",
		"spec.journeys[1].keepValues: load two: must not be set with a rate, whose sessions are users who come once; set users in place of the rate.":                                journeys + "}",
		"spec.thresholds[1].steps: load two: \"p\" is no step that sends load; such steps are a.":                                                                                    strings.Replace(spec, "duration: 1s}]}]", "duration: 1s}, {name: p, pause: 1s}]}]", 1) + ", thresholds: [{metric: p95, max: 1s, loads: [one]}, {metric: p95, max: 1s, steps: [p]}]}",
		"spec.target.url: host a.example is not allowed; use a Service of this cluster, or ask the administrator to add a.example to targets.rules of the operator's configuration.": strings.Replace(spec, "service: {name: shop}", "url: 'http://a.example'", 1) + "}",
	} {
		lt := &v1beta1.LoadTest{Spec: *yamlSpec(t, text)}
		lt.Namespace, lt.Name = "shop", "sale"
		same.As(t, "refusal", want, refusalOf(lt, policy.Default().For("shop")))
	}
}
