package plan

import (
	"fmt"
	"math"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// checkLimits refuses a run that is larger than the administrator allows. Its message has
// all that is too large, of each kind the step that is largest, with what is accepted.
func checkLimits(lt *v1beta1.LoadTest, p Plan, limits policy.Limits) *Refusal {
	may := fmt.Sprintf("than a LoadTest of namespace %s may have", lt.Namespace)
	mayRate := may
	if n := mostFollowed(&lt.Spec); n > 0 { // each redirect is one more request
		mayRate += fmt.Sprintf(", as each may follow %d redirects", n)
		limits.Rate, limits.BytesPerSecond = perChain(limits.Rate, n), perChain(limits.BytesPerSecond, n)
	}
	asked := askedFor(&lt.Spec)
	var breaches []string
	for _, breach := range []string{
		usersBreach(asked, limits.Users, may),
		rateBreach(&lt.Spec, asked, limits.Rate, mayRate),
		bytesBreach(asked, bytesPerRequest(&lt.Spec), limits.BytesPerSecond, mayRate),
		workersBreach(&lt.Spec, asked, p.Workers, limits.Workers, may),
		setupBreach(&lt.Spec, p.Workers, limits.Users, may),
		durationBreach(&lt.Spec, longest(lt, p), limits.Duration, may),
	} {
		if breach != "" {
			breaches = append(breaches, breach)
		}
	}
	if len(breaches) == 0 {
		return nil
	}
	return &Refusal{Reason: v1beta1.ReasonLimitExceeded, Message: strings.Join(breaches, " ")}
}

// mostFollowed is how many redirects a request follows at most.
func mostFollowed(spec *v1beta1.LoadTestSpec) (n int64) {
	for i := range spec.Requests {
		n = max(n, int64(httpOf(&spec.Requests[i]).FollowRedirects))
	}
	return n
}

// perChain is a limit on requests that follow so many redirects each; 0: there is none.
func perChain(limit, redirects int64) int64 {
	if limit == 0 {
		return 0
	}
	return max(1, limit/(1+redirects))
}

// asked is a load that a field of the spec asks for.
type asked struct {
	field string
	load  v1beta1.StepLoad
	// perSecond is in millionths of a request per second, where it is highest; 0: the step has none.
	perSecond int64
	// sessions is how many sessions that arrive wait between their requests at once, at most.
	sessions int64
}

func (a *asked) users() int64 { return max(int64(a.load.MostUsers()), a.sessions) }

func (a *asked) rate() int64 { return a.perSecond }

// ofUsers says whether the rate is that of users.
func (a *asked) ofUsers() bool { return !a.load.Arrives() }

// askedFor are the loads of the spec, each with its field. All repetitions, and both
// targets of a comparison, have the same ones.
func askedFor(spec *v1beta1.LoadTestSpec) []asked {
	list := loadsOf(spec)
	for i := range list {
		setSessions(spec, &list[i].load)
		list[i].perSecond, list[i].sessions = mostRate(spec, &list[i].load), sessionsAtOnce(spec, &list[i].load)
		if list[i].load.IsReplay() {
			list[i].perSecond = replayMicros(spec)
		}
	}
	return list
}

// loadsOf are those loads with rates that are all of requests.
func loadsOf(spec *v1beta1.LoadTestSpec) []asked {
	var list []asked
	if s := spec.Search; s != nil {
		field := "spec.search.rate.max"
		if s.Users != nil {
			field = "spec.search.users.max"
		}
		return append(list, asked{field: field, load: largestProbe(s).Load})
	}
	if r := spec.Replay; r != nil {
		return append(list, asked{field: "spec.replay.maxRate", load: replayStep(r).Load})
	}
	if l := spec.Ladder; l != nil {
		for i, rung := range rungs(l) {
			field := fmt.Sprintf("spec.ladder.users[%d]", i)
			if n := i - len(l.Users); n >= 0 {
				field = fmt.Sprintf("spec.ladder.rates[%d]", n)
			}
			list = append(list, asked{field: field, load: rung.Load})
		}
	}
	for i := range spec.Steps {
		list = append(list, asked{field: fmt.Sprintf("spec.steps[%d]", i), load: explicitLoad(&spec.Steps[i], 0)})
	}
	return list
}

// largestOf is the load of which size is largest; nil: there is none.
func largestOf(list []asked, size func(*asked) int64) *asked {
	var most *asked
	for i := range list {
		if most == nil || size(&list[i]) > size(most) {
			most = &list[i]
		}
	}
	return most
}

func usersBreach(list []asked, limit int32, may string) string {
	a := largestOf(list, (*asked).users)
	if limit == 0 || a == nil || a.users() <= int64(limit) {
		return ""
	}
	if a.load.Sessions != nil {
		return fmt.Sprintf("%s: up to %d sessions at once, which wait between their requests, are more users %s; at most %d are accepted.", a.field, a.users(), may, limit)
	}
	return fmt.Sprintf("%s: %d users are more %s; at most %d are accepted.", a.field, a.users(), may, limit)
}

func rateBreach(spec *v1beta1.LoadTestSpec, list []asked, limit int64, may string) string {
	a := largestOf(list, (*asked).rate)
	if limit == 0 || a == nil || a.rate() <= min(limit, MaxRateMicros/micro)*micro {
		return ""
	}
	if a.ofUsers() {
		return fmt.Sprintf("%s: %d users with ratePerUser %s send %s requests per second together, which is more %s; at most %d are accepted, which is %d users.",
			a.field, a.users(), a.load.RatePerUser, perSecond(a.rate()), may, limit, usersAt(a, float64(limit)))
	}
	if a.load.Sessions != nil {
		return fmt.Sprintf("%s: sessions of up to %d requests each send up to %s requests per second, which is more %s; at most %d are accepted.",
			a.field, RequestsOfASession(spec), perSecond(a.rate()), may, limit)
	}
	return fmt.Sprintf("%s: %s requests per second are more %s; at most %d are accepted.", a.field, perSecond(a.rate()), may, limit)
}

// usersAt is how many users with a rate of their own send so many requests per second.
func usersAt(a *asked, rate float64) int64 {
	return int64(rate * micro / float64(micros(a.load.RatePerUser)))
}

func bytesBreach(list []asked, each float64, limit int64, may string) string {
	a := largestOf(list, (*asked).rate)
	if limit == 0 || a == nil {
		return ""
	}
	bytes := each * float64(a.rate()) / micro
	if bytes <= float64(limit) {
		return ""
	}
	accepted := fmt.Sprintf("%d requests per second", int64(float64(limit)/each))
	if a.ofUsers() {
		accepted = fmt.Sprintf("%d users", usersAt(a, float64(limit)/each))
	}
	return fmt.Sprintf("%s: %s requests per second with bodies of %.0f bytes are %s a second, which is more %s; at most %s is accepted, which is %s.",
		a.field, perSecond(a.rate()), each, quantity(bytes), may, quantity(float64(limit)), accepted)
}

func workersBreach(spec *v1beta1.LoadTestSpec, list []asked, workers, limit int32, may string) string {
	switch {
	case limit == 0 || workers <= limit:
		return ""
	case spec.Parallelism != nil:
		return fmt.Sprintf("spec.parallelism: %d workers are more %s; at most %d are accepted.", workers, may, limit)
	}
	need := func(a *asked) int64 { return max(a.users(), a.rate()/micro) }
	a, unit := largestOf(list, need), "requests per second"
	if a.ofUsers() && a.users() >= a.rate()/micro {
		unit = "users"
	}
	return fmt.Sprintf("%s: %d %s need %d workers, which is more %s; at most %d are accepted: use at most %d %s, or set spec.parallelism.",
		a.field, need(a), unit, workers, may, limit, int64(limit)*perWorker, unit)
}

func durationBreach(spec *v1beta1.LoadTestSpec, planned, limit time.Duration, may string) string {
	if limit == 0 || planned <= limit {
		return ""
	}
	also := ""
	if spec.Setup != nil {
		also += ", or a smaller startDeadlineSeconds, which bounds the setup"
	}
	if len(spec.StoredAudits()) > 0 {
		also += ", or a shorter stored.maxWait of audits, which may pass before and after the steps"
	}
	return fmt.Sprintf("spec: the plan takes up to %s, which is longer %s; at most %s is accepted: use shorter or fewer steps, repetitions or pauses%s.",
		text.Whole(planned), may, text.Whole(limit), also)
}

// longest is how long a run sends load, pauses or waits, by its plan: a search with all its
// probes, a setup until startDeadlineSeconds, and audits, which are read at the same time, for the longest of
// their waits before the steps and after them. It saturates.
func longest(lt *v1beta1.LoadTest, p Plan) time.Duration {
	var sum time.Duration
	add := func(d time.Duration) {
		if sum += max(d, 0); sum < 0 {
			sum = math.MaxInt64
		}
	}
	for _, s := range Foreseen(&lt.Spec, &v1beta1.LoadTestStatus{Steps: p.Steps, Search: p.Search}) {
		for _, d := range []time.Duration{v1beta1.OrZero(s.Load.Pause), v1beta1.OrZero(s.Load.WarmUp), v1beta1.OrZero(s.Load.Duration), v1beta1.OrZero(s.Load.MaxDuration)} {
			add(d)
		}
	}
	if lt.Spec.Setup != nil && lt.Spec.StartDeadlineSeconds != nil {
		add(time.Duration(*lt.Spec.StartDeadlineSeconds) * time.Second)
	}
	var wait time.Duration
	for i := range p.Audits {
		wait = max(wait, p.Audits[i].MaxWait.Duration)
	}
	add(wait)
	add(wait)
	return sum
}

// bytesPerRequest is the mean length of the bodies of the mix, as they stand in the spec:
// what a template or a file makes of one is not known. With journeys, whose mix follows
// from what is answered, and a replay, whose log has the mix, it is the longest.
func bytesPerRequest(spec *v1beta1.LoadTestSpec) float64 {
	var sum, weights, most float64
	for i := range spec.Requests {
		r := &spec.Requests[i]
		weight, length := float64(weightIn(spec, r)), float64(len(httpOf(r).Body)+formSize(httpOf(r).Form))
		if r.GRPC != nil {
			length = float64(messagesSize(r.GRPC))
		}
		if r.WebSocket != nil {
			length = float64(messagesLength(r.WebSocket))
		}
		if spec.Replay != nil && !isRouted(spec, r) {
			length = 0
		}
		sum, weights, most = sum+weight*length, weights+weight, max(most, length)
	}
	if len(spec.Journeys) > 0 || spec.Replay != nil || weights == 0 {
		return most
	}
	return sum / weights
}

// perSecond is a rate as a user writes it.
func perSecond(micros int64) string { return decimalOf(micros).String() }

// quantity is so many bytes, to four digits: 1.25Gi.
func quantity(bytes float64) string {
	for _, unit := range []struct {
		suffix string
		bytes  float64
	}{{"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}} {
		if bytes >= unit.bytes {
			return fmt.Sprintf("%.4g%s", bytes/unit.bytes, unit.suffix)
		}
	}
	return resource.NewQuantity(int64(bytes), resource.BinarySI).String()
}

// checkPriority refuses a class of the queue that the administrator has not named.
func checkPriority(lt *v1beta1.LoadTest, rules policy.Rules) *Refusal {
	class := PriorityClass(&lt.Spec)
	if _, ok := rules.Priorities.Value(class); ok {
		return nil
	}
	if names := rules.Priorities.Names(); names != "" {
		return invalid("spec.queue.priorityClass: namespace %s has no class %s; it has %s.", lt.Namespace, class, names)
	}
	return invalid("spec.queue.priorityClass: namespace %s has no class %s, nor any other; leave it out.", lt.Namespace, class)
}

// PriorityClass is the class of spec.queue; empty: none.
func PriorityClass(spec *v1beta1.LoadTestSpec) string {
	if spec.Queue == nil {
		return ""
	}
	return spec.Queue.PriorityClass
}
