package plan

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Refusal is why a spec cannot be carried out: a condition's reason and message.
type Refusal struct {
	// Reason is a reason of condition Accepted.
	Reason string
	// Message is a sentence that names the field and the way out.
	Message string
}

// Error is the message.
func (r *Refusal) Error() string { return r.Message }

func invalid(format string, args ...any) *Refusal {
	return &Refusal{Reason: v1beta1.ReasonInvalidSpec, Message: fmt.Sprintf(format, args...)}
}

// New plans a run, once, when it is accepted. It refuses what only the operator can
// refuse: a target that the administrator does not allow, and numbers whose product
// is out of bounds. (Mind that a nil *Refusal in an error variable is not a nil
// error.)
func New(lt *v1beta1.LoadTest, rules policy.Rules) (Plan, *Refusal) {
	if len(lt.Spec.Loads) > 0 {
		return planLoads(lt, rules)
	}
	if refusal := checkSpec(&lt.Spec); refusal != nil {
		return Plan{}, refusal
	}
	steps, versus := Steps(&lt.Spec), versus(lt)
	if versus != nil {
		steps = inPairs(lt, steps, versus.Control)
	}
	sent := steps
	if s := lt.Spec.Search; s != nil {
		sent = append(slices.Clone(steps), largestProbe(s))
	}
	for _, check := range []func() *Refusal{
		func() *Refusal { return checkLoads(sent) },
		func() *Refusal { return checkAudits(&lt.Spec, steps) },
		func() *Refusal { return checkThresholds(&lt.Spec, steps) },
		func() *Refusal { return checkBaseline(&lt.Spec) },
		func() *Refusal { return checkTargets(&lt.Spec, rules) },
		func() *Refusal { return checkWorkers(lt, rules.Workers) },
		func() *Refusal { return checkPriority(lt, rules) },
	} {
		if refusal := check(); refusal != nil {
			return Plan{}, refusal
		}
	}
	p := Plan{
		Workers:   workers(&lt.Spec, steps),
		TargetURL: targetURL(lt.Namespace, &lt.Spec.Target),
		Requests:  RequestNames(&lt.Spec),
		Steps:     steps,
		Audits:    Audits(&lt.Spec),
		Search:    newSearch(&lt.Spec),
		Versus:    versus,

		OtherTargets: otherTargetStatuses(lt),
	}
	for _, s := range Foreseen(&lt.Spec, &v1beta1.LoadTestStatus{Steps: p.Steps, Search: p.Search}) {
		p.Longest += atMost(&s)
	}
	p.boundSetup(&lt.Spec, p.Workers, rules.Limits)
	return p, checkLimits(lt, p, rules.Limits)
}

// checkTargets holds all targets to the same rules.
func checkTargets(spec *v1beta1.LoadTestSpec, rules policy.Rules) *Refusal {
	refusal := checkTarget("spec.target", &spec.Target, rules)
	for i := range spec.OtherTargets {
		if refusal == nil {
			other := &spec.OtherTargets[i]
			refusal = checkTarget(OtherTargetField(other.Name), other.Target(), rules)
		}
	}
	if refusal == nil {
		refusal = checkHostHeaders(spec, rules)
	}
	return refusal
}

// checkTarget checks the target of a field.
func checkTarget(field string, t *v1beta1.Target, rules policy.Rules) *Refusal {
	// What a proxy resolves the target's name to, no worker can check: behind it, this
	// is the only check of a target that is no Service.
	if refusal := checkURL(field+".url", t, rules); refusal != nil {
		return refusal
	}
	if refusal := checkServerName(field, t, rules); refusal != nil {
		return refusal
	}
	if refusal := checkProxy(field+".proxy.url", t, rules); refusal != nil || t.Proxy == nil {
		return refusal
	}
	return checkNameBehindProxy(field, t, rules)
}

// checkNameBehindProxy refuses a name that a proxy would complete: it may lead elsewhere than what was judged.
func checkNameBehindProxy(field string, t *v1beta1.Target, rules policy.Rules) *Refusal {
	u, err := url.Parse(t.URL)
	if field += ".url"; t.Service != nil {
		u, field = &url.URL{Host: t.Service.Name}, strings.TrimSuffix(field, "url")+"service"
	} else if err != nil {
		return nil // not reached: checkURL has parsed it
	}
	if why := rules.Targets.RefusalBehindProxy(rules.Targets.Place(u)); why != "" {
		return notAllowed(field, why)
	}
	return nil
}

func notAllowed(field, why string) *Refusal {
	return &Refusal{Reason: v1beta1.ReasonTargetNotAllowed, Message: fmt.Sprintf("%s: %s.", field, why)}
}

func checkURL(field string, t *v1beta1.Target, rules policy.Rules) *Refusal {
	if t.Service != nil {
		return nil
	}
	u, err := url.Parse(t.URL)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return invalid("%s: must be http:// or https:// with a host, for example http://shortener:8080.", field)
	}
	return checkHost(field, u, rules, false)
}

func checkProxy(field string, t *v1beta1.Target, rules policy.Rules) *Refusal {
	if t.Proxy == nil {
		return nil
	}
	u, err := url.Parse(t.Proxy.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" || u.User != nil || u.Path != "" && u.Path != "/" {
		return invalid("%s: must be http:// with a host, without credentials and without a path, for example http://proxy:3128.", field)
	}
	return checkHost(field, u, rules, true)
}

// checkHost refuses the host of a URL that is none, or is not allowed by its spelling. What
// it leads to is checked once it is known.
func checkHost(field string, u *url.URL, rules policy.Rules, isProxy bool) *Refusal {
	host, port := policy.NormalHost(u.Hostname()), u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return invalid("%s: port %s must be between 1 and 65535.", field, port)
	}
	if !policy.IsHost(host) {
		return invalid("%s: %s is neither a host name nor an address.", field, host)
	}
	place := rules.Targets.Place(u)
	place.IsProxy = isProxy
	if why := rules.Targets.Refusal(place); why != "" {
		return notAllowed(field, why)
	}
	return nil
}

// checkSpec refuses what cannot be planned. The API server refuses most of it
// already, but not of an object that was stored before a rule was added to the schema.
func checkSpec(spec *v1beta1.LoadTestSpec) *Refusal {
	if len(spec.Requests) == 0 {
		return invalid("spec.requests: at least one request must be set.")
	}
	if len(spec.Journeys) == 0 && !slices.ContainsFunc(spec.Requests, func(r v1beta1.Request) bool { return requestWeight(&r) > 0 }) {
		return invalid("spec.requests: at least one request must have a weight above 0.")
	}
	for _, check := range []func(*v1beta1.LoadTestSpec) *Refusal{
		checkExpectations, checkCalls, checkForms, checkRedirects, checkStreams, checkWebSockets, checkSentTexts, checkOfStreams, checkDecimals, checkTraces,
		checkUserRamps, checkThinkTimes, checkJourneys, checkReplay, checkSetup, checkSearch, checkVersus, checkOtherTargets, checkLogins, checkSteps,
	} {
		if refusal := check(spec); refusal != nil {
			return refusal
		}
	}
	return nil
}

// checkLoads refuses loads that are none, or too many.
func checkLoads(steps []v1beta1.StepStatus) *Refusal {
	load := false
	for i := range steps {
		s := &steps[i]
		load = load || !s.Load.IsPause()
		if totalRate(&s.Load) > MaxRateMicros {
			return invalid("spec: the users of step %s send more than %d requests per second together; lower users or ratePerUser.", s.Name, MaxRateMicros/micro)
		}
		if isNothing(&s.Load) {
			return invalid("spec: step %s sends nothing; set its users or rate, and its duration or requestsPerUser.", s.Name)
		}
	}
	if !load {
		return invalid("spec: at least one step must send load; set ladder, steps, search or replay.")
	}
	return nil
}

// isNothing says whether a step takes no time, or sends nothing in it.
func isNothing(l *v1beta1.StepLoad) bool {
	if l.IsPause() {
		return l.Pause.Duration <= 0
	}
	return v1beta1.OrZero(l.Duration)+v1beta1.OrZero(l.MaxDuration) <= 0 || shared(l) <= 0 && l.Arrivals != v1beta1.ArrivalsPoisson && !l.IsReplay()
}

// maxEquals bounds an expected value: each worker's assignment carries all of them.
const maxEquals = 1024

// checkExpectations refuses values that are no scalars. No rule of the schema can
// look into a field that takes any JSON.
func checkExpectations(spec *v1beta1.LoadTestSpec) *Refusal {
	check := func(field string, e *v1beta1.Expectation) *Refusal {
		if e == nil {
			return nil
		}
		for j := range e.JSON {
			raw := e.JSON[j].Equals.Raw
			if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
				return invalid("spec.%s.expect.json[%d].equals: must be a string, a number, true, false or null; "+
					"name a value inside an object or a list by path.", field, j)
			}
			if len(raw) > maxEquals {
				return invalid("spec.%s.expect.json[%d].equals: must have at most %d bytes.", field, j, maxEquals)
			}
		}
		return nil
	}
	for i := range spec.Requests {
		if refusal := check(fmt.Sprintf("requests[%d]", i), spec.Requests[i].Expect); refusal != nil {
			return refusal
		}
	}
	for _, q := range questions(spec) {
		if refusal := check(q.field, q.Expect); refusal != nil {
			return refusal
		}
	}
	return nil
}

func checkDecimals(spec *v1beta1.LoadTestSpec) *Refusal {
	for _, d := range decimals(spec) {
		if d.value == nil {
			continue
		}
		if n, err := Micros(*d.value); err != nil {
			return invalid("%s: %v.", d.field, err)
		} else if n == 0 {
			return invalid("%s: must be greater than 0.", d.field)
		}
	}
	return nil
}

// decimal is a field of the spec; value is nil if it is absent.
type decimal struct {
	field string
	value *v1beta1.Decimal
}

// decimals are the fields that must be numbers above 0. Those of a search's range are
// checked with it.
func decimals(spec *v1beta1.LoadTestSpec) (all []decimal) {
	add := func(field string, value *v1beta1.Decimal) { all = append(all, decimal{field, value}) }
	if l := spec.Ladder; l != nil {
		add("spec.ladder.ratePerUser", l.RatePerUser)
		for i := range l.Rates {
			add(fmt.Sprintf("spec.ladder.rates[%d]", i), &l.Rates[i])
		}
	}
	if s := spec.Search; s != nil {
		add("spec.search.ratePerUser", s.RatePerUser)
	}
	if r := spec.Replay; r != nil {
		add("spec.replay.speed", r.Speed)
		add("spec.replay.maxRate", r.MaxRate)
	}
	for i := range spec.Steps {
		s := &spec.Steps[i]
		add(fmt.Sprintf("spec.steps[%d].rate", i), s.Rate)
		add(fmt.Sprintf("spec.steps[%d].rampTo", i), s.RampTo)
		add(fmt.Sprintf("spec.steps[%d].ratePerUser", i), s.RatePerUser)
	}
	for i := range spec.Audits {
		if contract := spec.Audits[i].RateLimit; contract != nil {
			add(fmt.Sprintf("spec.audits[%d].rateLimit.refillPerSecond", i), &contract.RefillPerSecond)
		}
	}
	return all
}
