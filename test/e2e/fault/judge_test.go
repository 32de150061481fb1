package fault

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/pressure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func n(i int64) *int64 { return &i }

// pressed is a machine that says that it was busy.
var pressed = pressure.Reading{Known: true, Waiting: 0.5}

// late makes an outcome one of which the status says that the generator was late, and the
// machine that it was busy.
func late(o *Outcome) { o.Verdict, o.Limited, o.Pressure = Inconclusive, true, pressed }

// stood makes an outcome one of which the status says that the target was down, and the target
// that it stood still, and took its time, for as long.
func stood(o *Outcome) {
	o.Verdict, o.Reason, o.Down, o.Pressure = Failed, "TargetDown: For 40ms of 4s in step a.", 40*time.Millisecond, pressed
	o.Stood, o.Slowest = 30*time.Millisecond, 10*time.Millisecond
}

// kept is a run that a fault did not change.
var kept = Outcome{
	Verdict: Passed, Took: 10 * time.Second,
	Planned: 240, Due: 240, Sent: 240, Completed: 240, Received: 240,
}

// exact is the expectation of such a run.
var exact = Expectation{Verdicts: []string{Passed}, Within: time.Minute, Exact: true}

// prompt is that of one whose target breaches nothing within 20 ms.
var prompt = Expectation{Verdicts: []string{Passed}, Within: time.Minute, Exact: true, Prompt: 20 * time.Millisecond}

// silent is that of a run whose target did not answer for most of it, and dead is such a run.
var (
	silent = Expectation{Verdicts: []string{Failed}, Within: time.Minute, Silent: 14 * time.Second, Stood: 13 * time.Second, Slowest: 4 * time.Second}
	dead   = Outcome{
		Verdict: Failed, Took: 10 * time.Second, Stood: 13 * time.Second, Slowest: 4 * time.Second,
		Planned: 240, Due: 240, Sent: 240, Completed: 240, Received: 240,
	}
)

// lost is a run whose worker was killed: 40 of 240 are left out, 12 of them sent.
var lost = Outcome{
	Verdict: Inconclusive, Took: 10 * time.Second, Reason: "WorkerLost",
	Planned: 240, Due: 200, Sent: 200, Completed: 200, Missing: n(20), Received: 212,
}

// loss is the expectation of such a run.
var loss = Expectation{Verdicts: []string{Inconclusive}, Within: time.Minute, WorkerGone: true}

// handover is that of one whose worker was deleted, with the time to report.
var handover = Expectation{Verdicts: []string{Inconclusive}, Within: time.Minute, WorkerGone: true, HandedOver: true, Reason: "WorkerLost"}

func TestJudge(t *testing.T) {
	tests := map[string]struct {
		want   Expectation
		got    Outcome
		change func(*Outcome)
		kinds  []Kind
	}{
		"a run that was kept":                  {exact, kept, func(*Outcome) {}, nil},
		"a run with a loss that it declares":   {loss, lost, func(*Outcome) {}, nil},
		"as many missing as it declares":       {loss, lost, func(o *Outcome) { o.Missing = n(12) }, nil},
		"not finished":                         {exact, kept, func(o *Outcome) { o.Verdict = "" }, []Kind{Stuck}},
		"not finished, before all was sent":    {exact, kept, func(o *Outcome) { o.Verdict, o.Due, o.Sent, o.Completed, o.Received = "", 9, 9, 9, 9 }, []Kind{Stuck}},
		"finished late":                        {exact, kept, func(o *Outcome) { o.Took = time.Minute + 1 }, []Kind{Stuck}},
		"a worker is left":                     {exact, kept, func(o *Outcome) { o.Left = "pod w-0" }, []Kind{Stuck}},
		"more received than declared":          {loss, lost, func(o *Outcome) { o.Missing = n(11) }, []Kind{Miscounted}},
		"more received and nothing declared":   {loss, lost, func(o *Outcome) { o.Missing = nil }, []Kind{Miscounted}},
		"all handed over":                      {handover, lost, func(o *Outcome) { o.Received, o.Missing = 200, n(0) }, nil},
		"some missing of a handover":           {handover, lost, func(o *Outcome) { o.Received, o.Missing = 200, n(1) }, []Kind{Miscounted}},
		"a handover that declares nothing":     {handover, lost, func(o *Outcome) { o.Received, o.Missing = 200, nil }, []Kind{Miscounted}},
		"less received than completed":         {loss, lost, func(o *Outcome) { o.Received = 199 }, []Kind{Miscounted}},
		"sent and not received":                {loss, lost, func(o *Outcome) { o.Completed, o.Received = 190, 190 }, nil},
		"passed with less than the plan":       {exact, kept, func(o *Outcome) { o.Due, o.Sent, o.Completed, o.Received = 239, 239, 239, 239 }, []Kind{Miscounted, WronglyPassed}},
		"passed with 1% unsent":                {exact, kept, func(o *Outcome) { o.Sent, o.Completed, o.Received = 238, 238, 238 }, nil},
		"passed with more unsent":              {exact, kept, func(o *Outcome) { o.Sent, o.Completed, o.Received = 237, 237, 237 }, []Kind{WronglyPassed}},
		"passed with one not received":         {Expectation{Verdicts: []string{Passed}, Within: time.Minute}, kept, func(o *Outcome) { o.Completed, o.Received = 239, 239 }, []Kind{WronglyPassed}},
		"passed with a count too many":         {exact, kept, func(o *Outcome) { o.Received = 241 }, []Kind{Miscounted, Miscounted}},
		"passed with one counted twice":        {exact, kept, func(o *Outcome) { o.Sent, o.Completed = 241, 241 }, []Kind{Miscounted, Miscounted}},
		"passed without a worker":              {loss, kept, func(*Outcome) {}, []Kind{WronglyPassed, Unexpected}},
		"passed with 1% wrong answers":         {exact, kept, func(o *Outcome) { o.Wrong = 2 }, nil},
		"passed with more wrong answers":       {exact, kept, func(o *Outcome) { o.Wrong = 3 }, []Kind{WronglyPassed}},
		"failed with wrong answers":            {Expectation{Verdicts: []string{Failed}, Within: time.Minute}, kept, func(o *Outcome) { o.Verdict, o.Wrong = Failed, 100 }, nil},
		"throttled, as the status says":        {Expectation{Verdicts: []string{Passed}, Within: time.Minute, Throttled: true}, kept, func(o *Outcome) { o.Held, o.Throttled = 5, 4.96 }, nil},
		"throttled, and it does not say so":    {Expectation{Verdicts: []string{Passed}, Within: time.Minute, Throttled: true}, kept, func(o *Outcome) { o.Held, o.Throttled = 5, 4.94 }, []Kind{Unexpected}},
		"throttled for little, rounded":        {Expectation{Verdicts: []string{Passed}, Within: time.Minute, Throttled: true}, kept, func(o *Outcome) { o.Held, o.Throttled = 0.2349, 0.23 }, nil},
		"throttled for little, and left out":   {Expectation{Verdicts: []string{Passed}, Within: time.Minute, Throttled: true}, kept, func(o *Outcome) { o.Held, o.Throttled = 0.236, 0.23 }, []Kind{Unexpected}},
		"nothing was throttled":                {Expectation{Verdicts: []string{Passed}, Within: time.Minute, Throttled: true}, kept, func(*Outcome) {}, []Kind{Unexpected}},
		"another verdict":                      {exact, kept, func(o *Outcome) { o.Verdict = Inconclusive }, []Kind{Unexpected}},
		"displaced, and the machine was busy":  {exact, kept, late, nil},
		"late, and the machine had time":       {exact, kept, func(o *Outcome) { late(o); o.Pressure = pressure.Reading{Known: true} }, []Kind{Unexpected}},
		"late, and the machine is silent":      {exact, kept, func(o *Outcome) { late(o); o.Pressure.Known = false }, []Kind{Unexpected}},
		"busy, and the status does not say so": {exact, kept, func(o *Outcome) { late(o); o.Limited = false }, []Kind{Unexpected}},
		"busy, and one is missing":             {exact, kept, func(o *Outcome) { late(o); o.Received = 239 }, []Kind{Miscounted, Miscounted, Unexpected}},
		"busy, and one is answered wrongly":    {exact, kept, func(o *Outcome) { late(o); o.Wrong = 1 }, []Kind{Unexpected}},
		"busy, and 5% were never sent":         {exact, kept, func(o *Outcome) { late(o); o.Sent, o.Completed, o.Received = 228, 228, 228 }, nil},
		"busy, and more were never sent":       {exact, kept, func(o *Outcome) { late(o); o.Sent, o.Completed, o.Received = 227, 227, 227 }, []Kind{Unexpected}},
		"busy, and some were never due": {exact, kept, func(o *Outcome) {
			late(o)
			o.Due, o.Sent, o.Completed, o.Received = 239, 239, 239, 239
		}, []Kind{Miscounted, Unexpected}},
		"failed, and the machine was busy":        {exact, kept, func(o *Outcome) { late(o); o.Verdict = Failed }, []Kind{WronglyFailed, Unexpected}},
		"busy, where the target is at fault":      {Expectation{Verdicts: []string{Failed}, Within: time.Minute}, kept, late, []Kind{Unexpected}},
		"displaced, where the target is at fault": {Expectation{Verdicts: []string{Failed}, Within: time.Minute}, kept, func(o *Outcome) { late(o); o.Displaced = true }, nil},
		"displaced on a machine at rest": {Expectation{Verdicts: []string{Failed}, Within: time.Minute}, kept, func(o *Outcome) {
			late(o)
			o.Displaced, o.Pressure = true, pressure.Reading{Known: true}
		}, []Kind{Unexpected}},
		"busy, where a worker is gone":                 {Expectation{Verdicts: []string{Passed}, Within: time.Minute, WorkerGone: true}, kept, late, []Kind{Unexpected}},
		"the target stood still, the machine was busy": {prompt, kept, stood, nil},
		"the target stood still, and not for that":     {prompt, kept, func(o *Outcome) { stood(o); o.Reason = "ThresholdBreached: p95 is 1s." }, []Kind{Unexpected}},
		"the target stood still on a machine at rest":  {prompt, kept, func(o *Outcome) { stood(o); o.Pressure = pressure.Reading{Known: true} }, []Kind{Unexpected}},
		"the target is called down for longer":         {prompt, kept, func(o *Outcome) { stood(o); o.Stood-- }, []Kind{WronglyFailed, Unexpected}},
		"the target is called down, among other":       {prompt, kept, func(o *Outcome) { stood(o); o.Stood--; o.Reason = "ThresholdBreached: p95 is 1s." }, []Kind{WronglyFailed, Unexpected}},
		"the target is called down, and not how long":  {prompt, kept, func(o *Outcome) { stood(o); o.Down = 0 }, []Kind{Unexpected}},
		"the target is called down, and was not":       {prompt, kept, func(o *Outcome) { stood(o); o.Stood, o.Slowest = 0, 20*time.Millisecond }, []Kind{WronglyFailed, Unexpected}},
		"the target is called down, and failed":        {Expectation{Verdicts: []string{Failed}, Within: time.Minute}, kept, func(o *Outcome) { stood(o); o.Stood = 0 }, nil},
		"failed, and a request took longer":            {prompt, kept, func(o *Outcome) { o.Verdict, o.Slowest, o.Stood = Failed, 11*time.Millisecond, 10*time.Millisecond }, []Kind{Unexpected}},
		"failed, and none took longer":                 {prompt, kept, func(o *Outcome) { o.Verdict, o.Slowest, o.Stood = Failed, 10*time.Millisecond, 10*time.Millisecond }, []Kind{WronglyFailed, Unexpected}},
		"failed, and one was answered wrongly":         {prompt, kept, func(o *Outcome) { o.Verdict, o.Wrong = Failed, 1 }, []Kind{Unexpected}},
		"failed, and one never reached the target":     {Expectation{Verdicts: []string{Passed}, Within: time.Minute}, kept, func(o *Outcome) { o.Verdict, o.Completed, o.Received = Failed, 239, 239 }, []Kind{Unexpected}},
		"failed without a worker":                      {loss, lost, func(o *Outcome) { o.Verdict = Failed }, []Kind{WronglyFailed, Unexpected}},
		"passed, and the target was silent":            {silent, dead, func(o *Outcome) { o.Verdict = Passed }, []Kind{WronglyPassed, Unexpected}},
		"failed, and the target was silent":            {silent, dead, func(*Outcome) {}, nil},
		"failed, and the target did not stand still":   {silent, dead, func(o *Outcome) { o.Stood-- }, []Kind{Unexpected}},
		"failed, and the target answered soon":         {silent, dead, func(o *Outcome) { o.Slowest-- }, []Kind{Unexpected}},
		"no verdict, and the target was silent":        {silent, dead, late, []Kind{Unexpected}},
		"displaced, and the target was silent":         {silent, dead, func(o *Outcome) { late(o); o.Displaced = true }, nil},
		"a plan without a number":                      {exact, kept, func(o *Outcome) { o.Planned = 0 }, nil},
		"a plan without a number, one missing":         {exact, kept, func(o *Outcome) { o.Planned, o.Received = 0, 239 }, []Kind{Miscounted, Miscounted}},
		"one of two verdicts":                          {Expectation{Verdicts: []string{Inconclusive, Error}, Within: time.Minute}, lost, func(o *Outcome) { o.Verdict = Error }, nil},
		"removed":                                      {Expectation{Verdicts: []string{Gone}, Within: time.Minute}, Outcome{Received: 9}, func(o *Outcome) { o.Verdict = Gone }, nil},
		"removed where it must stay":                   {exact, Outcome{Received: 9}, func(o *Outcome) { o.Verdict = Gone }, []Kind{Unexpected}},
		"with the reason":                              {Expectation{Verdicts: []string{Inconclusive}, Within: time.Minute, Reason: "Lost"}, lost, func(*Outcome) {}, nil},
		"without the reason":                           {Expectation{Verdicts: []string{Inconclusive}, Within: time.Minute, Reason: "quota"}, lost, func(*Outcome) {}, []Kind{Unexpected}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.change(&tt.got)
			var kinds []Kind
			for _, p := range Judge(tt.want, tt.got) {
				kinds = append(kinds, p.Kind)
			}
			same.As(t, "problems", tt.kinds, kinds)
		})
	}
}
