package v1beta1

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Journey is a sequence of what a user does. Cookies are kept until it ends, or with keepValues
// longer: at most 16, in 4096 bytes. It fails at the first unexpected response: its remaining requests are neither
// due nor sent, and the user goes on with the mix.
//
// +kubebuilder:validation:XValidation:rule="self.steps.exists(s, has(s.request) || has(s.repeat))",fieldPath=".steps",message="steps must have at least one with a request"
type Journey struct {
	// name identifies the journey in reports and thresholds.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// weight is the journey's share of the mix, relative to the weights of the other
	// journeys and of spec.requests. It counts how often users begin one, however many
	// requests it has. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Weight *int32 `json:"weight,omitempty"`

	// user is what each user of the journey has for itself. Example: {data: accounts}.
	// +optional
	User *JourneyUser `json:"user,omitempty"`

	// timeLimit is how long the whole journey may take, from when its first request is
	// due to its last response. A journey that takes longer has failed: nothing more of
	// it is sent. Absent: as long as its requests take. Example: 30s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1ms'), duration(self), duration('1h')].isSorted()",message="timeLimit must be a time from 1ms to 1h, such as 30s"
	TimeLimit *metav1.Duration `json:"timeLimit,omitempty"`

	// keepValues has users keep captured values and cookies after a journey, for later ones, in later steps
	// too. Then the first requests may have an if. Set it in all journeys of a load, or in none. Default false.
	// +optional
	KeepValues bool `json:"keepValues,omitempty"`

	// steps are the requests, and the waits between them. Example: [{request: login,
	// capture: {token: .token}}, {think: {min: 1s, max: 3s}}, {request: checkout}].
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Steps []JourneyStep `json:"steps"`
}

// JourneyUser is what each user of a journey has for itself.
type JourneyUser struct {
	// data is a table of spec.data. Each user has a row of it, always the same one:
	// user u has row u, counted from 0, if there are as many rows as users, and users
	// share rows if there are fewer.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Data string `json:"data"`
}

// JourneyStep is a request of a journey, sent once, some times or until a condition holds, or a wait.
//
// +kubebuilder:validation:XValidation:rule="has(self.repeat) ? !has(self.request) && !has(self.think) : has(self.request) != has(self.think)",message="exactly one of request, think and repeat must be set"
// +kubebuilder:validation:XValidation:rule="has(self.request) || !has(self.times)",message="times must not be set without request"
// +kubebuilder:validation:XValidation:rule="has(self.request) || !has(self.capture) && !has(self.captureFrom)",message="capture and captureFrom must not be set without request"
type JourneyStep struct {
	// request is the name of the request of spec.requests that is sent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request,omitempty"`

	// times is the number of times that the request is sent, one after another. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Times int32 `json:"times,omitempty"`

	// capture maps names to paths of values in the JSON response. Later requests of the
	// journey have them as ${name}. A response without such a value, or with one that is
	// longer than 4096 bytes or would break the request that uses it, counts as
	// badResponse. Example: {token: .token}.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.matches('^[A-Za-z_][A-Za-z0-9_]{0,62}$') && !(c in ['user', 'seq', 'worker', 'uuid', 'rand']))",message="capture must have names such as token, but not user, seq, worker, uuid or rand"
	Capture map[string]JSONPath `json:"capture,omitempty"`

	// captureFrom keeps values of headers, cookies, pages and text as capture keeps values of JSON. Example: [{name:
	// csrf, match: 'name="csrf" value="([^"]+)"'}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	CaptureFrom []Capture `json:"captureFrom,omitempty"`

	// think is how long the user waits before the next request, beside the time that the
	// load itself has between a user's requests. Example: {min: 1s, max: 3s}.
	// +optional
	Think *Think `json:"think,omitempty"`

	// if is a condition in CEL: the step is left out, neither due nor sent, unless it holds. Without
	// keepValues, the first request, and what is before it, has none. Example: tier == 'gold'.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	If string `json:"if,omitempty"`

	// repeat sends a request until a condition holds. Example: {request: state, capture: {paid: .paid},
	// until: paid == true, atMost: 10, every: 500ms}.
	// +optional
	Repeat *Repeat `json:"repeat,omitempty"`
}

// Repeat sends a request until a condition holds for what the response has.
type Repeat struct {
	// request is as that of a step.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request"`

	// capture is as that of a step.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.matches('^[A-Za-z_][A-Za-z0-9_]{0,62}$') && !(c in ['user', 'seq', 'worker', 'uuid', 'rand']))",message="capture must have names such as token, but not user, seq, worker, uuid or rand"
	Capture map[string]JSONPath `json:"capture,omitempty"`

	// captureFrom is as that of a step.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	CaptureFrom []Capture `json:"captureFrom,omitempty"`

	// until is a condition in CEL, asked after each response. Example: status == 200.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Until string `json:"until"`

	// atMost is how often the request is sent at most. The journey fails if the condition
	// has not held then.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	AtMost int32 `json:"atMost"`

	// every is how long the user waits after a response before the request is sent again.
	// Default 0s. Example: 500ms.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('1h')",message="every must be a time of at most 1h, such as 500ms"
	Every *metav1.Duration `json:"every,omitempty"`
}

// RequestName is the request that the step sends; empty: it is a wait.
func (s *JourneyStep) RequestName() string {
	if s.Repeat != nil {
		return s.Repeat.Request
	}
	return s.Request
}

// MostTimes is how often the step sends its request at most.
func (s *JourneyStep) MostTimes() int64 {
	switch {
	case s.Repeat != nil:
		return int64(s.Repeat.AtMost)
	case s.Request != "":
		return int64(max(s.Times, 1))
	}
	return 0
}

// Captures are the values that the step captures, of JSON and from elsewhere.
func (s *JourneyStep) Captures() (map[string]JSONPath, []Capture) {
	if s.Repeat != nil {
		return s.Repeat.Capture, s.Repeat.CaptureFrom
	}
	return s.Capture, s.CaptureFrom
}

// Capture is where in a response a value is: in a header, a cookie or the body.
//
// +kubebuilder:validation:XValidation:rule="has(self.header) ? !has(self.cookie) && !has(self.select) : has(self.cookie) ? !has(self.select) : has(self.select) || has(self.match)",message="exactly one of header, cookie and select must be set, or match alone, which searches the body"
// +kubebuilder:validation:XValidation:rule="has(self.select) || !has(self.attribute)",message="attribute must not be set without select"
type Capture struct {
	// name is what ${name} names.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]{0,62}$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['user', 'seq', 'worker', 'uuid', 'rand'])",message="name must be such as token, but not user, seq, worker, uuid or rand"
	Name string `json:"name"`

	// header is a header of the response: the first of its name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Header string `json:"header,omitempty"`

	// cookie is one that the user has, after this response.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Cookie string `json:"cookie,omitempty"`

	// match is a regular expression (RE2), whose first group is the value.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Match string `json:"match,omitempty"`

	// select is a CSS selector of tags, #id, .class and [attribute], in others by a space or >. The value is the text of the
	// first element that it matches. Example: input[name=csrf].
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Select string `json:"select,omitempty"`

	// attribute of that element is the value, instead of its text. Example: value.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Attribute string `json:"attribute,omitempty"`
}

// maxMatchSize bounds a match with its repetitions written out. A search takes time in proportion to
// it and to the body at worst: seconds for 1 MiB, for which the worker sends nothing else, where usual
// expressions take milliseconds.
const maxMatchSize = 300

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]*$")

// CheckHeader returns an error for a header that is none.
func (c *Capture) CheckHeader() error {
	if !headerName.MatchString(c.Header) {
		return errors.New("is not the name of a header, such as X-CSRF-Token")
	}
	return nil
}

// CheckMatch returns an error for a match that is no regular expression with a group, or one that
// takes too long, which the API server cannot know. It returns nil without one. It only parses: to
// compile hundreds of expressions costs seconds.
func (c *Capture) CheckMatch() error {
	if c.Match == "" {
		return nil
	}
	re, err := syntax.Parse(c.Match, syntax.Perl)
	switch {
	case err != nil:
		return err
	case re.MaxCap() == 0:
		return errors.New(`must have a group, whose match is the value, such as value="([^"]+)"`)
	case sizeOf(re) > maxMatchSize:
		return fmt.Errorf("has %d parts with its repetitions, at most %d are accepted; use * or + for a large number", sizeOf(re), maxMatchSize)
	}
	return nil
}

// sizeOf is of how many parts an expression is, of which the parser permits 1000 times its length.
func sizeOf(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpRepeat:
		n = 0
	}
	for _, sub := range re.Sub {
		n += sizeOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// JourneyResult is what became of a journey in a step. Those that began in the step's
// warm-up are left out.
//
// Always: started = completed + failed + unfinished.
type JourneyResult struct {
	// name is the journey.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// due is the number of journeys that a rate asked for so far. Absent with users, who start each that
	// is due.
	// +optional
	Due int64 `json:"due,omitempty"`
	// started is the number of journeys that were begun: their first request was sent.
	Started int64 `json:"started"`
	// completed is the number of journeys that were carried out: each request got an expected response, in
	// the time of timeLimit.
	Completed int64 `json:"completed"`
	// failed is the number of journeys that ended because a request got no expected response, or because
	// of timeLimit.
	Failed int64 `json:"failed"`
	// failedIn lists the steps of the journey in which failed journeys ended, with their number, in
	// the order of the steps.
	// +optional
	// +listType=map
	// +listMapKey=step
	// +kubebuilder:validation:MaxItems=32
	FailedIn []JourneyFailures `json:"failedIn,omitempty"`
	// leftOut lists the steps of the journey whose if did not hold, with how often, in the order of the steps.
	// +optional
	// +listType=map
	// +listMapKey=step
	// +kubebuilder:validation:MaxItems=32
	LeftOut []JourneyLeftOut `json:"leftOut,omitempty"`
	// unfinished is the number of journeys that are under way, or were at the end of the step, which ended
	// them.
	Unfinished int64 `json:"unfinished"`
	// time is how long those that were completed took, from when the first request was
	// due to the last response, waits included.
	// +optional
	Time *Latency `json:"time,omitempty"`
}

// JourneyFailures are the journeys that failed in one of their steps.
type JourneyFailures struct {
	// step is the number of the journey's step, from 1, waits included.
	Step int32 `json:"step"`
	// request is the one that the step sends.
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request"`
	// failed is the number of journeys that ended there.
	Failed int64 `json:"failed"`
	// byCondition is how many of them ended by if or until, after an expected response.
	// +optional
	ByCondition int64 `json:"byCondition,omitempty"`
	// because is why one of those did. Example: until never held in 10 tries.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Because string `json:"because,omitempty"`
}

// JourneyLeftOut says how often a step was left out.
type JourneyLeftOut struct {
	// step is the number of the journey's step, from 1, waits included.
	Step int32 `json:"step"`
	// request is the one that the step sends. Absent for a wait.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request,omitempty"`
	// times is how often its if did not hold.
	Times int64 `json:"times"`
}
