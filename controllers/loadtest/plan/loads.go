package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// LabelPartOf is a label of the LoadTest of a load: the name of the LoadTest that has the load among
// its spec.loads.
const LabelPartOf = "app.kubernetes.io/part-of"

// MaxWait is the longest that a load may wait for those before it, with its workers: they end a day
// after the longest that their own load could take.
const MaxWait = 20 * time.Hour

// LoadName is the name of the LoadTest that carries out a load of another.
func LoadName(of, load string) string { return of + "-" + load }

// Loads are the LoadTests that carry out spec.loads, in its order: each has the requests, journeys,
// steps and thresholds of its load, and all else of the LoadTest. It is nil without spec.loads.
func Loads(lt *v1beta1.LoadTest) []*v1beta1.LoadTest {
	var list []*v1beta1.LoadTest
	for i := range lt.Spec.Loads {
		list = append(list, loadTestOf(lt, i))
	}
	return list
}

// loadTestOf is the LoadTest of the load with that index.
func loadTestOf(lt *v1beta1.LoadTest, i int) *v1beta1.LoadTest {
	one := &v1beta1.LoadTest{Spec: *LoadSpec(&lt.Spec, i)}
	one.Namespace, one.Name = lt.Namespace, LoadName(lt.Name, lt.Spec.Loads[i].Name)
	one.Labels = map[string]string{LabelPartOf: lt.Name}
	owner := metav1.NewControllerRef(lt, v1beta1.GroupVersion.WithKind("LoadTest"))
	owner.BlockOwnerDeletion = nil
	one.OwnerReferences = []metav1.OwnerReference{*owner}
	return one
}

// LoadSpec is the spec of the load with that index. What ends or holds the run, and when it is deleted,
// stays with the LoadTest that has the loads.
func LoadSpec(spec *v1beta1.LoadTestSpec, i int) *v1beta1.LoadTestSpec {
	load := &spec.Loads[i]
	one := spec.DeepCopy()
	one.Loads = nil
	one.Ladder, one.Steps, one.Search, one.Parallelism = load.Ladder.DeepCopy(), nil, load.Search.DeepCopy(), load.Parallelism
	for j := range load.Steps {
		one.Steps = append(one.Steps, *load.Steps[j].DeepCopy())
	}
	one.Suspend, one.Terminate, one.ActiveDeadlineSeconds, one.TTLSecondsAfterFinished = false, false, nil, nil
	if spec.RandomSeed != nil { // loads with one seed would draw the same rows
		one.RandomSeed = ptr.To((*spec.RandomSeed + int64(i)) % maxSeed)
	}
	selectMix(one, load)
	one.Thresholds = nil
	for _, t := range spec.Thresholds {
		if restricted, ok := thresholdOf(one, load.Name, t); ok {
			one.Thresholds = append(one.Thresholds, restricted)
		}
	}
	return one
}

// maxSeed is one more than the largest seed.
const maxSeed = 1 << 53

// selectMix leaves the journeys of a load, and the requests that it sends by itself, in journeys or in
// the setup.
func selectMix(spec *v1beta1.LoadTestSpec, load *v1beta1.Load) {
	all := load.Requests == nil && load.Journeys == nil
	spec.Journeys = slices.DeleteFunc(spec.Journeys, func(j v1beta1.Journey) bool { return !all && !slices.Contains(load.Journeys, j.Name) })
	if len(spec.Journeys) == 0 {
		spec.Journeys = nil
	}
	var kept []v1beta1.Request
	for _, r := range spec.Requests {
		switch {
		case all || slices.Contains(load.Requests, r.Name):
		case inJourney(spec, &r) || inSetup(spec.Setup, r.Name):
			r.Weight = ptr.To[int32](0)
		default:
			continue
		}
		kept = append(kept, r)
	}
	spec.Requests = kept
}

// inSetup says whether the setup sends a request.
func inSetup(setup *v1beta1.Setup, name string) bool {
	return setup != nil && (setup.Fill != nil && setup.Fill.Request == name || setup.WarmUp != nil && setup.WarmUp.Request == name)
}

// thresholdOf is a threshold as it is about the requests, journeys and steps of a load; ok is false if
// it is about none of them.
func thresholdOf(spec *v1beta1.LoadTestSpec, load string, t v1beta1.Threshold) (restricted v1beta1.Threshold, ok bool) {
	if t.Loads != nil && !slices.Contains(t.Loads, load) {
		return t, false
	}
	var requests, types, journeys, steps []string
	for _, r := range RequestNames(spec) {
		requests, types = append(requests, r.Name), append(types, r.Type)
	}
	for _, j := range spec.Journeys {
		journeys = append(journeys, j.Name)
	}
	for _, s := range stepsOnce(spec) {
		steps = append(steps, s.Name)
	}
	t.Loads = nil
	for _, part := range []struct {
		named *[]string
		has   []string
	}{{&t.Requests, requests}, {&t.Types, types}, {&t.Journeys, journeys}, {&t.Steps, steps}} {
		if *part.named == nil {
			continue
		}
		if *part.named = common(*part.named, part.has); *part.named == nil {
			return t, false
		}
	}
	return t, len(t.Requests)+len(t.Types) == 0 && !t.OfStreams() || sendsSome(spec, &t)
}

// sendsSome says whether the steps of a run send a request that a threshold can judge. The setup may
// send others.
func sendsSome(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold) bool {
	requests := RequestNames(spec)
	for i := range spec.Requests {
		if Judges(spec, t, requests, i) && IsSent(spec, &spec.Requests[i]) {
			return true
		}
	}
	return false
}

// common are the names that are in both lists.
func common(names, in []string) (both []string) {
	for _, name := range names {
		if slices.Contains(in, name) {
			both = append(both, name)
		}
	}
	return both
}

// planLoads plans a run whose loads are sent side by side: each as a run of its own.
func planLoads(lt *v1beta1.LoadTest, rules policy.Rules) (Plan, *Refusal) {
	if refusal := checkLoadsOf(&lt.Spec); refusal != nil {
		return Plan{}, refusal
	}
	whole := Plan{TargetURL: targetURL(lt.Namespace, &lt.Spec.Target), Requests: RequestNames(&lt.Spec), OtherTargets: otherTargetStatuses(lt)}
	// Of each load, after the run's begin: as it is planned, and if all steps take as long as they may.
	ends, latest := map[string]time.Duration{}, map[string]time.Duration{}
	var sum together
	for i, one := range Loads(lt) {
		load := &lt.Spec.Loads[i]
		planned, refusal := New(one, rules)
		if refusal == nil {
			refusal = checkDriver(&one.Spec)
		}
		if refusal != nil {
			return Plan{}, refusalOf(&lt.Spec, i, refusal)
		}
		begins := ends[load.After] + v1beta1.OrZero(load.Delay)
		if begins > MaxWait {
			return Plan{}, invalid("spec.loads[%d]: %s may wait for %s with its workers, at most %s are accepted; shorten the loads before it.", i, load.Name, text.Whole(begins), text.Whole(MaxWait))
		}
		ends[load.Name] = begins + longest(one, planned)
		latest[load.Name] = latest[load.After] + v1beta1.OrZero(load.Delay) + planned.Longest
		if !load.Background {
			whole.Longest = max(whole.Longest, latest[load.Name])
		}
		sum.add(&one.Spec, planned.Workers, ends[load.Name])
		whole.Loads = append(whole.Loads, v1beta1.LoadStatus{Name: load.Name, Test: one.Name})
	}
	whole.Workers = int32(min(sum.workers, workerv1.MaxWorkers))
	return whole, sum.check(lt, rules.Limits)
}

// together is what the loads of a run ask for at most, at the same time.
type together struct {
	workers, users, perSecond int64 // perSecond is in millionths of a request
	setups                    int64 // workers that send a setup
	bytes                     float64
	length                    time.Duration
}

// add adds a load that ends so long after the run's begin.
func (t *together) add(spec *v1beta1.LoadTestSpec, workers int32, end time.Duration) {
	loads := askedFor(spec)
	t.workers += int64(workers)
	if spec.Setup != nil {
		t.setups += int64(workers)
	}
	t.length = max(t.length, end)
	if a := largestOf(loads, (*asked).users); a != nil {
		t.users += a.users()
	}
	if a := largestOf(loads, (*asked).rate); a != nil {
		rate := a.rate() * (1 + mostFollowed(spec))
		t.perSecond += rate
		t.bytes += float64(rate) / micro * bytesPerRequest(spec)
	}
}

// check refuses loads that are more together than one run may have: side by side they would be a way
// around the limits.
func (t *together) check(lt *v1beta1.LoadTest, limits policy.Limits) *Refusal {
	namespace := lt.Namespace
	workers := int64(workerv1.MaxWorkers)
	if limits.Workers > 0 {
		workers = min(workers, int64(limits.Workers))
	}
	for _, of := range []struct {
		what        string
		much, limit float64
	}{
		{"workers", float64(t.workers), float64(workers)},
		{"users", float64(t.users), float64(limits.Users)},
		{"connections for spec.setup, of which each worker has one,", float64(t.setups), float64(limits.Users)},
		{"requests per second", float64(t.perSecond) / micro, float64(limits.Rate)},
		{"bytes a second", t.bytes, float64(limits.BytesPerSecond)},
	} {
		if of.limit > 0 && of.much > of.limit {
			return &Refusal{Reason: v1beta1.ReasonLimitExceeded, Message: fmt.Sprintf("spec.loads: the loads have up to %.0f %s together, which is more than a LoadTest of namespace %s may have; at most %.0f are accepted.", of.much, of.what, namespace, of.limit)}
		}
	}
	if breach := durationBreach(&lt.Spec, t.length, limits.Duration, fmt.Sprintf("than a LoadTest of namespace %s may have", namespace)); breach != "" {
		return &Refusal{Reason: v1beta1.ReasonLimitExceeded, Message: breach}
	}
	return nil
}

// checkLoadsOf refuses loads that cannot follow each other, and thresholds that are about none.
func checkLoadsOf(spec *v1beta1.LoadTestSpec) *Refusal {
	if isWithOneLoad(spec) {
		return invalid("spec.loads: must not be set with ladder, steps, search, replay, repetitions, baseline, versus, audits or parallelism.")
	}
	var before []string
	foreground := false
	for i := range spec.Loads {
		l := &spec.Loads[i]
		if l.After != "" && !slices.Contains(before, l.After) {
			return invalid("spec.loads[%d].after: %s must be a load that is before %s in the list, and not in the background.", i, l.After, l.Name)
		}
		if !l.Background {
			before, foreground = append(before, l.Name), true
		}
	}
	if !foreground {
		return invalid("spec.loads: at least one load must not be in the background.")
	}
	for _, check := range []func(*v1beta1.LoadTestSpec) *Refusal{checkAllSent, checkOfStreams} {
		if refusal := check(spec); refusal != nil {
			return refusal
		}
	}
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		if !isAboutALoad(spec, t) {
			return invalid("spec.thresholds[%d]: no load has what %s is about; correct its loads, requests, types, journeys or steps.", i, cmp.Or(t.Name, string(t.Metric)))
		}
	}
	return nil
}

// isWithOneLoad says whether a spec has what belongs to a run of one load.
func isWithOneLoad(spec *v1beta1.LoadTestSpec) bool {
	return spec.Ladder != nil || len(spec.Steps) > 0 || spec.Search != nil || spec.Replay != nil || Repetitions(spec) > 1 ||
		spec.Baseline != nil || spec.Versus != nil || len(spec.Audits) > 0 || spec.Parallelism != nil
}

// checkAllSent refuses a request or a journey that no load sends.
func checkAllSent(spec *v1beta1.LoadTestSpec) *Refusal {
	requests, journeys := map[string]bool{}, map[string]bool{}
	for i := range spec.Loads {
		one := withoutThresholds(spec, i)
		for _, r := range one.Requests {
			requests[r.Name] = true
		}
		for _, j := range one.Journeys {
			journeys[j.Name] = true
		}
	}
	for i, r := range spec.Requests {
		if !requests[r.Name] && requestWeight(&r) > 0 {
			return invalid("spec.requests[%d]: no load sends %s; name it in requests of one of spec.loads, or leave it out.", i, r.Name)
		}
	}
	for i, j := range spec.Journeys {
		if !journeys[j.Name] {
			return invalid("spec.journeys[%d]: no load carries %s out; name it in journeys of one of spec.loads, or leave it out.", i, j.Name)
		}
	}
	return nil
}

// withoutThresholds is the spec of a load without its thresholds.
func withoutThresholds(spec *v1beta1.LoadTestSpec, load int) *v1beta1.LoadTestSpec {
	bare := *spec
	bare.Thresholds = nil
	return LoadSpec(&bare, load)
}

// isAboutALoad says whether a load has what a threshold is about.
func isAboutALoad(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold) bool {
	for i := range spec.Loads {
		if _, ok := thresholdOf(withoutThresholds(spec, i), spec.Loads[i].Name, *t); ok {
			return true
		}
	}
	return false
}
