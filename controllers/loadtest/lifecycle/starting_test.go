package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var (
	ready  = exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true}
	coming = exchange.Worker{Pod: exchange.PodWaiting}
	// final has told all of its step, leaving has a pod that is being deleted.
	final   = exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true, Final: true}
	leaving = exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true, PodEnding: true}
	ended   = exchange.Worker{Pod: exchange.PodEnded}
)

// awaited are three workers of a run whose Job is there.
func awaited(workers ...exchange.Worker) lifecycle.Observed {
	return lifecycle.Observed{Job: lifecycle.JobPresent, Since: began.Add(-time.Hour), Workers: workers}
}

// What a wait for workers says, of the hindrance that matters most.
func TestWhyWorkersAreNotReady(t *testing.T) {
	deleted := exchange.Worker{Pod: exchange.PodEnded, PodEnding: true, PodTakenAway: true, PodReason: v1beta1.ReasonWorkerLost, PodMessage: "its pod was deleted"}
	full := exchange.Worker{Pod: exchange.PodWaiting, PodReason: v1beta1.ReasonUnschedulable, PodMessage: "waits for a node: full\n"}
	pull := exchange.Worker{Pod: exchange.PodWaiting, PodReason: v1beta1.ReasonImagePull, PodMessage: "no such image."}
	ended := exchange.Worker{Pod: exchange.PodEnded, PodReason: v1beta1.ReasonWorkerLost, PodMessage: "Error, exit code 1"}
	refuses := exchange.Worker{Pod: exchange.PodRunning, Connected: true, Reason: v1beta1.ReasonWorkerRefused, Message: "too many users"}
	away := exchange.Worker{Pod: exchange.PodRunning, Connected: true, Reason: v1beta1.ReasonTargetUnreachable}
	busy := exchange.Worker{Pod: exchange.PodRunning, Connected: true, Message: "setup: 5 of 9 requests sent"}
	const until = " The run gives up at 10:01:00 UTC (startDeadlineSeconds)."
	for name, tc := range map[string]struct {
		seen   lifecycle.Observed
		want   string
		failed bool
	}{
		"nothing is known":             {awaited(coming, coming, ready), "Waiting: 2 of 3 workers not ready yet." + until, false},
		"a session that broke":         {awaited(exchange.Worker{Pod: exchange.PodRunning, Ready: true}, ready, ready), "Waiting: 1 of 3 workers not ready yet." + until, false},
		"one is busy":                  {awaited(coming, busy, ready), "Waiting: 2 of 3 workers not ready yet. Worker 1: setup: 5 of 9 requests sent." + until, false},
		"one was busy when it left":    {awaited(exchange.Worker{Pod: exchange.PodRunning, Message: busy.Message}, coming, ready), "Waiting: 2 of 3 workers not ready yet." + until, false},
		"one found it in the end":      {awaited(coming, exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true, Reason: v1beta1.ReasonTargetUnreachable, Message: "try 7"}, ready), "Waiting: 1 of 3 workers not ready yet." + until, false},
		"one says nothing":             {awaited(exchange.Worker{Pod: exchange.PodRunning, Connected: true}, busy, ready), "Waiting: 2 of 3 workers not ready yet. Worker 1: setup: 5 of 9 requests sent." + until, false},
		"two of one reason":            {awaited(full, pull, full), "Unschedulable: 2 of 3 workers: waits for a node: full." + until, false},
		"the first of two reasons":     {awaited(pull, full, coming), "ImagePull: 1 of 3 workers: no such image." + until, false},
		"a reason without a word":      {awaited(away, ready, ready), "TargetUnreachable: 1 of 3 workers: " + until, false},
		"what is hopeless comes first": {awaited(full, refuses, full), "WorkerRefused: 1 of 3 workers: too many users.", true},
		"the first that is hopeless":   {awaited(ready, ended, refuses), "WorkerLost: 1 of 3 workers: ended before the run began: Error, exit code 1.", true},
		"one whose pod was deleted":    {awaited(ready, deleted, ready), "WorkerLost: 1 of 3 workers: its pod was deleted; the workers are started again." + until, false},
		"a Job that is not ours": {
			lifecycle.Observed{Job: lifecycle.JobForeign, Workers: make([]exchange.Worker, 3)},
			"CreateRefused: A Job with the name of the LoadTest exists and does not belong to it; delete the Job, or give the LoadTest another name.", true,
		},
		"a Job of an earlier LoadTest": {
			lifecycle.Observed{Job: lifecycle.JobLeftOver, Workers: make([]exchange.Worker, 3)},
			"Waiting: The API server is removing the Job of an earlier LoadTest of this name." + until, false,
		},
		"a Job that is refused": {
			lifecycle.Observed{Refused: &lifecycle.Refusal{Message: "exceeded quota: tests"}, Workers: make([]exchange.Worker, 3)},
			"CreateRefused: The API server refuses the Job of the workers: exceeded quota: tests." + until, false,
		},
		"a Job that was refused before": {
			lifecycle.Observed{Job: lifecycle.JobPresent, Refused: &lifecycle.Refusal{Message: "exceeded quota: tests"}, Workers: []exchange.Worker{coming, coming, coming}},
			"Waiting: 3 of 3 workers not ready yet." + until, false,
		},
		"a Job that is always refused": {
			lifecycle.Observed{Refused: &lifecycle.Refusal{Message: "spec.worker.image: Required value", Permanent: true}, Workers: make([]exchange.Worker, 3)},
			"CreateRefused: The API server refuses the Job of the workers: spec.worker.image: Required value.", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := lifecycle.Decide(accepted(ladder()), policy.Rules{}, tc.seen, began.Add(time.Second))
			same.As(t, "condition", "False "+tc.want, said(d.Status, v1beta1.ConditionWorkersReady))
			want := ""
			if tc.failed {
				want = tc.want
			}
			same.As(t, "why it ended", want, failure(d.Status))
		})
	}
}

// A worker whose pod is taken away before the first request is replaced, with all others: their
// Job is made again. If it had a setup to send, or ended by itself, the run ends.
func TestAWorkerThatIsTakenAwayBeforeTheRunIsReplaced(t *testing.T) {
	drained := exchange.Worker{Pod: exchange.PodRunning, PodEnding: true, PodTakenAway: true, PodReason: v1beta1.ReasonWorkerLost, PodMessage: "its pod was evicted, as in a node drain", Connected: true, Ready: true}
	gone := exchange.Worker{Pod: exchange.PodEnded, PodTakenAway: true, PodReason: v1beta1.ReasonWorkerLost, PodMessage: "its pod was deleted"}
	crashed := exchange.Worker{Pod: exchange.PodEnded, PodReason: v1beta1.ReasonWorkerLost, PodMessage: "OOMKilled, exit code 137"}
	deleting := awaited(ready, gone, ready)
	deleting.Job = lifecycle.JobDeleting
	setup := func(lt *v1beta1.LoadTest) {
		lt.Spec.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "health", Count: 1}}
	}
	for name, tc := range map[string]struct {
		seen lifecycle.Observed
		edit func(*v1beta1.LoadTest)
		want lifecycle.JobAction
		ends bool
	}{
		"as it goes":      {awaited(ready, drained, ready), nil, lifecycle.JobDelete, false},
		"once it is gone": {awaited(gone, ready, ready), nil, lifecycle.JobDelete, false},
		"one of several":  {awaited(gone, crashed, ready), nil, lifecycle.JobKeep, true},
		"a second time":   {deleting, nil, lifecycle.JobKeep, false},
		"then":            {lifecycle.Observed{Since: began, Workers: make([]exchange.Worker, 3)}, nil, lifecycle.JobCreate, false},
		"with a setup":    {awaited(gone, ready, ready), setup, lifecycle.JobKeep, true},
		"ended by itself": {awaited(crashed, ready, ready), nil, lifecycle.JobKeep, true},
		"while it is read": {awaited(gone, ready, ready), func(lt *v1beta1.LoadTest) {
			lt.Status.Internal.Auditing = &v1beta1.Auditing{Point: v1beta1.AuditBefore}
		}, lifecycle.JobDelete, false},
	} {
		t.Run(name, func(t *testing.T) {
			lt := accepted(ladder())
			if tc.edit != nil {
				tc.edit(lt)
			}
			d := lifecycle.Decide(lt, policy.Rules{}, tc.seen, began.Add(time.Second))
			if d.Job != tc.want || (d.Status.Verdict != "") != tc.ends || d.Status.Internal.Auditing != nil {
				t.Errorf("Job %v, verdict %q: %s; want %v, that it ends: %t", d.Job, d.Status.Verdict, failure(d.Status), tc.want, tc.ends)
			}
			said := slices.ContainsFunc(d.Events, func(e lifecycle.Event) bool {
				return e.Warning && e.Reason == v1beta1.ReasonWorkerLost && strings.HasSuffix(e.Message, "; the workers are started again.")
			})
			if said != (tc.want == lifecycle.JobDelete) {
				t.Errorf("events %v; want one that says that workers are started again: %t", d.Events, tc.want == lifecycle.JobDelete)
			}
		})
	}
	late := lifecycle.Decide(accepted(ladder()), policy.Rules{}, awaited(gone, ready, ready), began.Add(time.Minute))
	if failure(late.Status) != "StartDeadlineExceeded: The workers were not ready within startDeadlineSeconds (60s). 1 of 3 workers: its pod was deleted; the workers are started again." {
		t.Errorf("a minute later: %s", failure(late.Status))
	}
}

// A Job that is refused is tried again every five seconds, and at no other moment.
func TestWhenARefusedJobIsTriedAgain(t *testing.T) {
	refused := lifecycle.Observed{Refused: &lifecycle.Refusal{Message: "no", At: began.Add(10 * time.Second)}, Workers: make([]exchange.Worker, 3)}
	for after, want := range map[time.Duration]struct {
		job   lifecycle.JobAction
		again time.Duration
	}{
		10 * time.Second: {lifecycle.JobKeep, 5 * time.Second},
		14 * time.Second: {lifecycle.JobKeep, time.Second},
		15 * time.Second: {lifecycle.JobCreate, 45 * time.Second},
	} {
		d := lifecycle.Decide(accepted(ladder()), policy.Rules{}, refused, began.Add(after))
		if d.Job != want.job || d.RequeueAfter != want.again {
			t.Errorf("after %v: Job %v, again after %v; want %+v", after, d.Job, d.RequeueAfter, want)
		}
	}
}

// A wait has its ends, and is looked at again at the next of them.
func TestHowLongWorkersAreWaitedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		start, active *int64 // seconds
		seen          lifecycle.Observed
		after         time.Duration
		again         time.Duration
		failed        string // with that reason
	}{
		"the start deadline":                {ptr.To[int64](60), nil, awaited(coming), 59 * time.Second, time.Second, ""},
		"the start deadline has passed":     {ptr.To[int64](60), nil, awaited(coming), time.Minute, 30 * time.Second, v1beta1.ReasonStartDeadlineExceeded},
		"no look at what is past":           {ptr.To[int64](60), ptr.To[int64](65), awaited(coming), time.Minute, 30 * time.Second, v1beta1.ReasonStartDeadlineExceeded},
		"no deadline":                       {nil, nil, awaited(coming), time.Hour, 10 * time.Second, ""}, // the look at who waits
		"the end of the run comes first":    {ptr.To[int64](60), ptr.To[int64](20), awaited(coming), 5 * time.Second, 15 * time.Second, ""},
		"the start deadline comes first":    {ptr.To[int64](60), ptr.To[int64](90), awaited(coming), 5 * time.Second, 55 * time.Second, ""},
		"the end of the run, and no other":  {nil, ptr.To[int64](20), awaited(coming), 5 * time.Second, 15 * time.Second, ""},
		"the end of the run has come":       {ptr.To[int64](60), ptr.To[int64](20), lifecycle.Observed{Workers: make([]exchange.Worker, 1)}, 20 * time.Second, 30 * time.Second, v1beta1.ReasonDeadlineExceeded},
		"no pod yet":                        {ptr.To[int64](60), nil, awaited(exchange.Worker{}), time.Second, 5 * time.Second, ""},
		"no pod, and no Job that makes one": {ptr.To[int64](60), nil, lifecycle.Observed{Job: lifecycle.JobDeleting, Workers: make([]exchange.Worker, 1)}, time.Second, 59 * time.Second, ""},
		"no Job by the start deadline":      {ptr.To[int64](60), nil, lifecycle.Observed{Workers: []exchange.Worker{{}}}, time.Minute, 30 * time.Second, v1beta1.ReasonStartDeadlineExceeded},
		"a Job that is being removed":       {ptr.To[int64](60), nil, lifecycle.Observed{Job: lifecycle.JobLeftOver, Workers: []exchange.Worker{coming}}, time.Second, 5 * time.Second, ""},
		"all are ready":                     {ptr.To[int64](60), nil, awaited(ready), time.Second, 500*time.Millisecond + 93*time.Second, ""}, // the step's limit
	} {
		t.Run(name, func(t *testing.T) {
			spec := ladder()
			spec.Parallelism, spec.StartDeadlineSeconds, spec.ActiveDeadlineSeconds = ptr.To[int32](1), tc.start, tc.active
			d := lifecycle.Decide(accepted(spec), policy.Rules{}, tc.seen, began.Add(tc.after))
			if got := failure(d.Status); !strings.HasPrefix(got, tc.failed) || (got == "") != (tc.failed == "") {
				t.Errorf("it ended with %q, want reason %q", got, tc.failed)
			}
			if got := said(d.Status, v1beta1.ConditionWorkersReady); strings.Contains(got, "gives up at") && (tc.start == nil || !strings.Contains(got, "10:01:00")) {
				t.Errorf("WorkersReady is %s, of a start deadline of %v", got, tc.start)
			}
			if d.RequeueAfter != tc.again || d.Job != lifecycle.JobKeep {
				t.Errorf("again after %v, Job %v; want %v, kept", d.RequeueAfter, d.Job, tc.again)
			}
			if tc.failed == "" && len(d.Events) > 0 || tc.failed != "" && len(d.Events) != 1 {
				t.Errorf("events %v", d.Events)
			}
		})
	}
}

// Quiet hours end the wait for workers when they begin; what stops runs does so at once.
func TestHoldsWhileWorkersStart(t *testing.T) {
	spec := ladder()
	spec.StartDeadlineSeconds = nil
	if d := lifecycle.Decide(accepted(spec), rules(t, `quietHours: [{from: "10:01", to: "11:00"}]`), awaited(coming), began); d.RequeueAfter != time.Minute {
		t.Errorf("again after %v", d.RequeueAfter)
	}
	f := newFamily(t)
	f.rules = rules(t, `quietHours: [{from: "10:01", to: "11:00"}]`)
	same.As(t, "with loads, again after", time.Minute, f.pass().RequeueAfter)
	for _, since := range []time.Time{{}, began} {
		if d := lifecycle.Decide(accepted(spec), rules(t, "stop: {}"), lifecycle.Observed{Since: since, Workers: make([]exchange.Worker, 3)}, began); d.Undirected != since.IsZero() || d.Status.Verdict != v1beta1.VerdictCanceled {
			t.Errorf("directed since %v: undirected %t, verdict %s", since, d.Undirected, d.Status.Verdict)
		}
	}
}

// A run that is ended while it waits creates nothing more.
func TestTerminatedWhileItWaits(t *testing.T) {
	lt := accepted(ladder())
	lt.Spec.Terminate = true
	d := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Workers: make([]exchange.Worker, 3)}, began.Add(time.Second))
	if d.Job != lifecycle.JobKeep || len(d.Events) != 1 || d.Status.Verdict != v1beta1.VerdictCanceled {
		t.Errorf("Job %v, events %v, verdict %s; want it kept, one, Canceled", d.Job, d.Events, d.Status.Verdict)
	}
}

// A run that was given up names the files that its pods may have waited for, if
// that is what they waited for.
func TestMissingFiles(t *testing.T) {
	header := func(s *v1beta1.LoadTestSpec) {
		s.Target.Headers = []v1beta1.Header{{Name: "A", ValueFrom: &v1beta1.HeaderSource{Secret: v1beta1.KeyReference{Name: "loadtest-api", Key: "token"}}}}
	}
	tables := func(keys ...string) func(*v1beta1.LoadTestSpec) {
		return func(s *v1beta1.LoadTestSpec) {
			for _, key := range keys {
				s.Data = append(s.Data, v1beta1.Data{Name: key, From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "rows", Key: key}}, Format: v1beta1.DataFormatCSV})
			}
		}
	}
	full := exchange.Worker{Pod: exchange.PodWaiting, PodReason: v1beta1.ReasonUnschedulable, PodMessage: "full"}
	const may = " Their pods may be waiting for a missing file; check that these exist: "
	for name, tc := range map[string]struct {
		edit func(*v1beta1.LoadTestSpec)
		seen lifecycle.Observed
		want string
	}{
		"a Secret":            {header, awaited(coming, ready, ready), may + "key token of Secret loadtest-api."},
		"a ConfigMap":         {tables("a"), awaited(coming, ready, ready), may + "key a of ConfigMap rows."},
		"as many as are read": {tables("a", "b", "c", "d", "e"), awaited(coming, coming, coming), may + "key a of ConfigMap rows, key b of ConfigMap rows, key c of ConfigMap rows, key d of ConfigMap rows, key e of ConfigMap rows."},
		"no file":             {func(*v1beta1.LoadTestSpec) {}, awaited(coming, ready, ready), ""},
		"another reason":      {header, awaited(full, ready, ready), ""},
		"pods that run":       {header, awaited(exchange.Worker{Pod: exchange.PodRunning}, ready, ready), ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := ladder()
			tc.edit(&spec)
			s := lifecycle.Decide(accepted(spec), policy.Rules{}, tc.seen, began.Add(time.Minute)).Status
			got := failure(s)
			_, files, _ := strings.Cut(got, may)
			if files != "" {
				files = may + files
			}
			if diff := cmp.Diff(tc.want, files); diff != "" || !strings.Contains(got, "startDeadlineSeconds (60s)") {
				t.Errorf("%s; files (-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestMissesPods(t *testing.T) {
	begun, over, untaken := limited(0), accepted(ladder()), &v1beta1.LoadTest{Spec: ladder()}
	over.Spec.Terminate = true
	over.Status = lifecycle.Decide(over, policy.Rules{}, lifecycle.Observed{}, began).Status
	over.Status.Steps[0].State = v1beta1.StepPending // whatever a status says of its steps
	none := exchange.Worker{}
	for name, tc := range map[string]struct {
		lt   *v1beta1.LoadTest
		seen lifecycle.Observed
		want bool
	}{
		"one of them":        {accepted(ladder()), awaited(coming, none, ready), true},
		"none":               {accepted(ladder()), awaited(coming, coming, ready), false},
		"no Job":             {accepted(ladder()), lifecycle.Observed{Workers: []exchange.Worker{none}}, false},
		"a run that began":   {begun, awaited(none), false},
		"a run that is over": {over, awaited(none), false},
		"a run not taken up": {untaken, awaited(none), false},
	} {
		same.As(t, name+": it misses pods", tc.want, lifecycle.MissesPods(tc.lt, tc.seen))
	}
}

// Who is told when quiet hours would end the run may put it off: it takes as long as all probes of a search, or all loads, may.
func TestQuietHoursThatWouldEndTheRunAreSaid(t *testing.T) {
	const says = " Quiet hours begin at 10:10 UTC, and would end the run if its steps take as long as they may."
	loads := newFamily(t).parent.Spec
	loads.Loads[1].Delay.Duration = 8 * time.Minute
	for name, tc := range map[string]struct {
		spec v1beta1.LoadTestSpec
		want string
	}{
		"a ladder that ends before":   {ladder(), ""},
		"a search":                    {searching(), says},
		"a load that follows another": {loads, says},
		"loads that end before":       {newFamily(t).parent.Spec, ""},
	} {
		lt := &v1beta1.LoadTest{Spec: tc.spec}
		lt.Name = "hello"
		d := lifecycle.Decide(lt, rules(t, `quietHours: [{from: "10:10", to: "11:00"}]`), lifecycle.Observed{}, began)
		same.As(t, name, "True Accepted: The spec can be carried out."+tc.want, said(d.Status, v1beta1.ConditionAccepted))
	}
}
