package expect

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

// every is expected of the experiments of each seed.
func every() []Expectation {
	var list []Expectation
	for _, seed := range experiment.Seeds() {
		var about []string
		for _, e := range experiment.Of(seed) {
			about = append(about, e.Name)
		}
		list = append(list,
			Expectation{seed + "-variant-verified", about, "Every worker was answered by the variant that was meant, before it sent anything else.", verified(about)},
			Expectation{seed + "-nothing-unaccounted", about, "Each request that was due was sent or counted as unsent, and each that was sent is in one class.", accounted(about)},
		)
		if seed != "004" {
			list = append(list, Expectation{seed + "-nothing-lost", storing(about), "What was acknowledged is stored, once.", stored(storing(about))})
		}
	}
	return list
}

// storing are the experiments with something that is stored.
func storing(about []string) (list []string) {
	for _, name := range about {
		if name != "001-1-worker" && name != "001-4-workers" {
			list = append(list, name)
		}
	}
	return list
}

// each calls a function for the load tests of experiments.
func each(all record.Results, about []string, do func(name string, lt *v1beta1.LoadTest)) {
	for _, name := range about {
		for i := range all[name].LoadTests {
			lt := &all[name].LoadTests[i]
			do(name+"/"+lt.Name, lt)
		}
	}
}

func verified(about []string) func(record.Results) (string, bool) {
	return func(all record.Results) (string, bool) {
		var tests int
		var not []string
		each(all, about, func(name string, lt *v1beta1.LoadTest) {
			tests++
			if !record.Verified(lt) {
				not = append(not, name)
			}
		})
		return but(fmt.Sprintf("%d load tests verified their target", tests-len(not)), not), len(not) == 0
	}
}

// but names what is not so.
func but(text string, not []string) string {
	if len(not) == 0 {
		return text + "."
	}
	return text + ", but not " + strings.Join(not, ", ") + "."
}

func accounted(about []string) func(record.Results) (string, bool) {
	return func(all record.Results) (string, bool) {
		var due, sent, failed int64
		var not []string
		each(all, about, func(name string, lt *v1beta1.LoadTest) {
			for _, step := range record.Rungs(lt) {
				r := step.Result
				due, sent, failed = due+r.Due, sent+r.Sent, failed+r.Failed
				planned := step.Load.Requests == 0 || step.Load.Requests == r.Due
				if r.Due != r.Sent+r.Unsent || r.Sent != outcomes(&r.Outcomes) || !planned {
					not = append(not, name+" step "+step.Name)
				}
			}
		})
		return but(fmt.Sprintf("%d requests were due and %d sent, of which %d failed, each of them in a class", due, sent, failed), not), len(not) == 0
	}
}

// outcomes are all requests that are in a class.
func outcomes(o *v1beta1.Outcomes) int64 {
	return o.Success + o.RateLimited + o.ClientError + o.ServerError + o.UnexpectedStatus + o.Timeout + o.Refused + o.Reset +
		o.DNS + o.TLS + o.BadResponse + o.Unfinished + o.Other + o.BrokenOff + o.Stalled + o.EndedEarly
}

func stored(about []string) func(record.Results) (string, bool) {
	return func(all record.Results) (string, bool) {
		var acknowledged, change, unknown int64
		var not []string
		each(all, about, func(name string, lt *v1beta1.LoadTest) {
			for _, a := range lt.Status.Audits {
				if a.State != v1beta1.AuditPassed || a.Change == nil || a.Unknown == nil {
					not = append(not, fmt.Sprintf("%s (%s)", name, a.Message))
					continue
				}
				acknowledged, change, unknown = acknowledged+a.Acknowledged, change+*a.Change, unknown+*a.Unknown
			}
		})
		text := fmt.Sprintf("%d items were acknowledged and %d stored; of %d more it was open whether they were", acknowledged, change, unknown)
		return but(text, not), len(not) == 0 && acknowledged > 0
	}
}
