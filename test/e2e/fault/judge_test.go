package fault

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func n(i int64) *int64 { return &i }

// kept is a run that a fault did not change.
var kept = Outcome{
	Verdict: Passed, Took: 10 * time.Second,
	Planned: 240, Due: 240, Sent: 240, Completed: 240, Received: 240,
}

// exact is the expectation of such a run.
var exact = Expectation{Verdicts: []string{Passed}, Within: time.Minute, Exact: true}

// lost is a run whose worker was killed: 40 of 240 are left out, 12 of them sent.
var lost = Outcome{
	Verdict: Inconclusive, Took: 10 * time.Second, Reason: "WorkerLost",
	Planned: 240, Due: 200, Sent: 200, Completed: 200, Missing: n(20), Received: 212,
}

// loss is the expectation of such a run.
var loss = Expectation{Verdicts: []string{Inconclusive}, Within: time.Minute, WorkerGone: true}

func TestJudge(t *testing.T) {
	tests := map[string]struct {
		want   Expectation
		got    Outcome
		change func(*Outcome)
		kinds  []Kind
	}{
		"a run that was kept":                {exact, kept, func(*Outcome) {}, nil},
		"a run with a loss that it declares": {loss, lost, func(*Outcome) {}, nil},
		"as many missing as it declares":     {loss, lost, func(o *Outcome) { o.Missing = n(12) }, nil},
		"not finished":                       {exact, kept, func(o *Outcome) { o.Verdict = "" }, []Kind{Stuck}},
		"not finished, before all was sent":  {exact, kept, func(o *Outcome) { o.Verdict, o.Due, o.Sent, o.Completed, o.Received = "", 9, 9, 9, 9 }, []Kind{Stuck}},
		"finished late":                      {exact, kept, func(o *Outcome) { o.Took = time.Minute + 1 }, []Kind{Stuck}},
		"a worker is left":                   {exact, kept, func(o *Outcome) { o.Left = "pod w-0" }, []Kind{Stuck}},
		"more received than declared":        {loss, lost, func(o *Outcome) { o.Missing = n(11) }, []Kind{Miscounted}},
		"more received and nothing declared": {loss, lost, func(o *Outcome) { o.Missing = nil }, []Kind{Miscounted}},
		"less received than completed":       {loss, lost, func(o *Outcome) { o.Received = 199 }, []Kind{Miscounted}},
		"sent and not received":              {loss, lost, func(o *Outcome) { o.Completed, o.Received = 190, 190 }, nil},
		"passed with less than the plan":     {exact, kept, func(o *Outcome) { o.Due, o.Sent, o.Completed, o.Received = 239, 239, 239, 239 }, []Kind{Miscounted, WronglyPassed}},
		"passed with 1% unsent":              {exact, kept, func(o *Outcome) { o.Sent, o.Completed, o.Received = 238, 238, 238 }, nil},
		"passed with more unsent":            {exact, kept, func(o *Outcome) { o.Sent, o.Completed, o.Received = 237, 237, 237 }, []Kind{WronglyPassed}},
		"passed with one not received":       {Expectation{Verdicts: []string{Passed}, Within: time.Minute}, kept, func(o *Outcome) { o.Completed, o.Received = 239, 239 }, []Kind{WronglyPassed}},
		"passed with a count too many":       {exact, kept, func(o *Outcome) { o.Received = 241 }, []Kind{Miscounted, Miscounted}},
		"passed with one counted twice":      {exact, kept, func(o *Outcome) { o.Sent, o.Completed = 241, 241 }, []Kind{Miscounted, Miscounted}},
		"passed without a worker":            {loss, kept, func(*Outcome) {}, []Kind{WronglyPassed, Unexpected}},
		"passed with 1% wrong answers":       {exact, kept, func(o *Outcome) { o.Wrong = 2 }, nil},
		"passed with more wrong answers":     {exact, kept, func(o *Outcome) { o.Wrong = 3 }, []Kind{WronglyPassed}},
		"failed with wrong answers":          {Expectation{Verdicts: []string{Failed}, Within: time.Minute}, kept, func(o *Outcome) { o.Verdict, o.Wrong = Failed, 100 }, nil},
		"another verdict":                    {exact, kept, func(o *Outcome) { o.Verdict = Inconclusive }, []Kind{Unexpected}},
		"inconclusive on a busy machine":     {exact, kept, func(o *Outcome) { o.Verdict, o.Limited = Inconclusive, true }, nil},
		"busy, and one is missing":           {exact, kept, func(o *Outcome) { o.Verdict, o.Limited, o.Received = Inconclusive, true, 239 }, []Kind{Miscounted, Miscounted, Unexpected}},
		"busy, and 5% were never sent": {exact, kept, func(o *Outcome) {
			o.Verdict, o.Limited, o.Sent, o.Completed, o.Received = Inconclusive, true, 228, 228, 228
		}, nil},
		"busy, and more were never sent": {exact, kept, func(o *Outcome) {
			o.Verdict, o.Limited, o.Sent, o.Completed, o.Received = Inconclusive, true, 227, 227, 227
		}, []Kind{Unexpected}},
		"busy, and some were never due": {exact, kept, func(o *Outcome) {
			o.Verdict, o.Limited, o.Due, o.Sent, o.Completed, o.Received = Inconclusive, true, 239, 239, 239, 239
		}, []Kind{Miscounted, Unexpected}},
		"failed on a busy machine":           {exact, kept, func(o *Outcome) { o.Verdict, o.Limited = Failed, true }, []Kind{Unexpected}},
		"busy, where the target is at fault": {Expectation{Verdicts: []string{Failed}, Within: time.Minute}, kept, func(o *Outcome) { o.Verdict, o.Limited = Inconclusive, true }, []Kind{Unexpected}},
		"one of two verdicts":                {Expectation{Verdicts: []string{Inconclusive, Error}, Within: time.Minute}, lost, func(o *Outcome) { o.Verdict = Error }, nil},
		"removed":                            {Expectation{Verdicts: []string{Gone}, Within: time.Minute}, Outcome{Received: 9}, func(o *Outcome) { o.Verdict = Gone }, nil},
		"removed where it must stay":         {exact, Outcome{Received: 9}, func(o *Outcome) { o.Verdict = Gone }, []Kind{Unexpected}},
		"with the reason":                    {Expectation{Verdicts: []string{Inconclusive}, Within: time.Minute, Reason: "Lost"}, lost, func(*Outcome) {}, nil},
		"without the reason":                 {Expectation{Verdicts: []string{Inconclusive}, Within: time.Minute, Reason: "quota"}, lost, func(*Outcome) {}, []Kind{Unexpected}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.change(&tt.got)
			var kinds []Kind
			for _, p := range Judge(tt.want, tt.got) {
				kinds = append(kinds, p.Kind)
			}
			if diff := cmp.Diff(tt.kinds, kinds); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
