package manifest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Factor is how much smaller than published the experiments are run, and how often. The
// laptops of the published runs had 8 cores or more for the target alone, of which
// generator, target, databases and three nodes of Kubernetes have 2 here.
type Factor struct {
	// Load divides users, rates, workers, the bounds on either, and the limits of the
	// target. At least 1 is left.
	Load int `json:"load"`
	// Time divides the durations and pauses of steps.
	Time int `json:"time"`
	// Shortest is the shortest duration that Time leaves of a longer one.
	Shortest metav1.Duration `json:"shortest"`
	// Rest is the shortest pause that Time leaves of a longer one, and the shortest pause
	// before a repetition.
	Rest metav1.Duration `json:"rest"`
	// Repetitions is how often the steps of each load test run, 1 to MaxRepetitions.
	Repetitions int32 `json:"repetitions"`
	// Limits are those of an experiment's target that Load divided, in words. Empty: none.
	Limits string `json:"limits,omitempty"`
}

// TwoCores is the factor of make seeds. Five repetitions show a spread, and each is as short
// as this needs to be for all experiments together to take less than 90 minutes: 5 s of what
// was published of 10 to 60 s, and 20 s of five minutes.
var TwoCores = Factor{
	Load: 10, Time: 15, Shortest: metav1.Duration{Duration: 5 * time.Second}, Rest: metav1.Duration{Duration: 2 * time.Second},
	Repetitions: 5,
}

// MaxRepetitions keeps the longest ladder, of six rungs with rests between them, below the
// 128 steps that a LoadTest may have.
const MaxRepetitions = 10

// String is the factor in a sentence.
func (f Factor) String() string {
	text := fmt.Sprintf("users and rates are 1/%d of the published ones and at least 1, durations 1/%d and at least %s; repetitions: %d",
		f.Load, f.Time, f.Shortest.Duration, f.Repetitions)
	if f.Limits != "" {
		text += fmt.Sprintf("; limits of the target, 1/%d as well: %s", f.Load, f.Limits)
	}
	return text
}

// Scale makes a load test smaller by a factor, repeats it, and lets it start at once.
//
// One that audits a rate limit has its published size: it counts grants, and sends no more
// than 200 requests; fewer would not empty the bucket that is its subject. Each of its
// repetitions begins with a pause that fills the bucket.
//
// Those of a ladder, which ends with what is too much for its target, begin with its rest
// of the published length: how long a target takes to recover does not depend on the
// factor. Between two rungs the scaled rest is enough, as there the load grows.
func Scale(lt *v1beta1.LoadTest, f Factor) *v1beta1.LoadTest {
	out := lt.DeepCopy()
	out.Spec.Suspend = false
	// A sample repeats what depends on chance more often.
	out.Spec.Repetitions = max(out.Spec.Repetitions, f.Repetitions)
	if out.Spec.RateLimit() != nil {
		return out
	}
	for i := range out.Spec.Steps {
		f.step(&out.Spec.Steps[i])
	}
	settle := f.Rest
	if l := out.Spec.Ladder; l != nil {
		settle.Duration = max(settle.Duration, v1beta1.OrZero(l.Rest))
		f.ladder(l)
		if out.Spec.Repetitions > 1 {
			out.Spec.Ladder, out.Spec.Steps = nil, unrolled(l)
		}
	}
	if s := out.Spec.Steps; len(s) > 0 && s[0].Pause == nil && out.Spec.Repetitions > 1 {
		out.Spec.Steps = slices.Insert(s, 0, v1beta1.Step{Name: "settle", Pause: &settle})
	}
	for i := range out.Spec.Thresholds {
		f.threshold(&out.Spec.Thresholds[i])
	}
	f.count(out.Spec.Parallelism)
	return out
}

// count divides a number of users or workers, rounded up.
func (f Factor) count(n *int32) {
	if n != nil {
		*n = max(1, int32(f.share(int(*n))))
	}
}

// rate divides a number per second. It has the form of a Decimal.
func (f Factor) rate(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text // the API server says so
	}
	return strconv.FormatFloat(math.Round(1e6*v/float64(f.Load))/1e6, 'f', -1, 64)
}

func (f Factor) decimal(d *v1beta1.Decimal) {
	if d != nil {
		*d = v1beta1.NewDecimal(f.rate(d.String()))
	}
}

// duration divides the length of a step, and pause what is around it. What is below the
// shortest is kept.
func (f Factor) duration(d *metav1.Duration) { f.time(d, f.Shortest.Duration) }
func (f Factor) pause(d *metav1.Duration)    { f.time(d, f.Rest.Duration) }

func (f Factor) time(d *metav1.Duration, shortest time.Duration) {
	if d != nil && d.Duration > shortest {
		d.Duration = max(d.Duration/time.Duration(f.Time), shortest)
	}
}

func (f Factor) ladder(l *v1beta1.Ladder) {
	for i := range l.Users {
		f.count(&l.Users[i])
	}
	for i := range l.Rates {
		f.decimal(&l.Rates[i])
	}
	f.duration(&l.Duration)
	f.pause(l.WarmUp)
	f.pause(l.Rest)
}

// unrolled are the rungs of a ladder and the rests between them as steps, to which a pause
// can be added that is longer than its rest.
func unrolled(l *v1beta1.Ladder) []v1beta1.Step {
	var steps []v1beta1.Step
	add := func(name string, s v1beta1.Step) {
		if len(steps) > 0 && v1beta1.OrZero(l.Rest) > 0 {
			steps = append(steps, v1beta1.Step{Name: "rest before " + name, Pause: l.Rest})
		}
		s.Name, s.WarmUp, s.Duration = name, l.WarmUp, &l.Duration
		steps = append(steps, s)
	}
	for i := range l.Users {
		add(strconv.Itoa(int(l.Users[i])), v1beta1.Step{Users: &l.Users[i], RatePerUser: l.RatePerUser, Think: l.Think})
	}
	for i := range l.Rates {
		add(l.Rates[i].String()+"/s", v1beta1.Step{Rate: &l.Rates[i]})
	}
	return steps
}

// step leaves a burst's requests: their number is its subject.
func (f Factor) step(s *v1beta1.Step) {
	f.count(s.Users)
	f.decimal(s.Rate)
	f.decimal(s.RampTo)
	f.duration(s.Duration)
	f.pause(s.WarmUp)
	f.pause(s.Pause)
}

func (f Factor) threshold(t *v1beta1.Threshold) {
	f.count(t.UpToUsers)
	switch t.Metric {
	case v1beta1.MetricGoodput, v1beta1.MetricThroughput, v1beta1.MetricItemsPerSecond:
		for _, bound := range []*intstr.IntOrString{t.Max, t.Min} {
			if bound != nil {
				*bound = intstr.FromString(f.rate(bound.String()))
			}
		}
	}
}
