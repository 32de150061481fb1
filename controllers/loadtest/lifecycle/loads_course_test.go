package lifecycle_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// CarriedOut says of a run that failed which load did not go to its end.
func TestHowFarLoadsWent(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(*family)
		want string
	}{
		"one could not be carried out": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonStoppedOnBreach)
			f.pass()
			f.end("noise", v1beta1.VerdictError, v1beta1.ReasonNoWorkers)
			f.pass()
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "True LoadsEnded: Load noise could not be carried out. The others were ended."},
		"the last could not be carried out": {func(f *family) {
			f.end("noise", v1beta1.VerdictFailed, v1beta1.ReasonStoppedOnBreach)
			f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
			f.pass()
			f.end("late", v1beta1.VerdictError, v1beta1.ReasonNoWorkers)
		}, "True LoadsEnded: Load late could not be carried out."},
		"one was aborted": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonAborted)
			f.pass()
			f.inTurn("late Canceled, noise Canceled")
		}, "True Aborted: Load readers was aborted by a threshold. The others were ended."},
		"the background was cut as planned": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonStoppedOnBreach)
			f.pass()
			f.inTurn("late Passed", "noise Canceled")
		}, "True AllStepsRan: All loads ran."},
	} {
		t.Run(name, func(t *testing.T) {
			f := begun(t)
			c.act(f)
			f.pass()
			same.As(t, "verdict", v1beta1.VerdictFailed, f.parent.Status.Verdict)
			same.As(t, "CarriedOut", c.want, said(f.parent.Status, v1beta1.ConditionCarriedOut))
		})
	}
}

// A run whose loads were ended by a deadline that is put off meanwhile did not go to its end, though a load had
// passed.
func TestLoadsThatWereCutByADeadlineThatWasPutOff(t *testing.T) {
	f := begun(t)
	f.inTurn("readers Passed")
	f.now, f.parent.Spec.ActiveDeadlineSeconds = began.Add(10*time.Second), ptr.To[int64](10)
	f.pass()
	f.parent.Spec.ActiveDeadlineSeconds = ptr.To[int64](100)
	f.inTurn("late Canceled, noise Canceled")
	same.As(t, "verdict", v1beta1.VerdictError, f.parent.Status.Verdict)
}

// keeps is what a finished run asks to keep while nothing was tried yet.
func (f *family) keeps() lifecycle.Keep {
	seen := f.seen()
	seen.Keeping.Wanted = policy.Results{Archived: true, Announced: true, Wait: time.Hour}
	return lifecycle.Decide(f.parent, policy.Rules{}, seen, f.now).Keep
}

// The verdict of a run is announced once the results of a load could not be archived. The run's own results wait for
// these.
func TestTheVerdictOfLoadsIsAnnouncedThoughTheStoreIsAway(t *testing.T) {
	f := begun(t)
	f.inTurn("readers Passed", "late Passed", "noise Canceled")
	same.As(t, "before anything was tried", lifecycle.Keep{}, f.keeps())
	meta.SetStatusCondition(&f.tests["sale-late"].Status.Conditions, metav1.Condition{Type: v1beta1.ConditionArchived, Status: metav1.ConditionFalse, Reason: v1beta1.ReasonArchiveFailed})
	same.As(t, "after one failed", lifecycle.Keep{Announce: true}, f.keeps())
}

// A name that a stranger's LoadTest has does not keep the results of the run, and its announcement, waiting.
func TestTheResultsOfARunDoNotWaitForAStranger(t *testing.T) {
	f := newFamily(t)
	f.taken = "late"
	f.tests["sale-late"] = &v1beta1.LoadTest{}
	f.tests["sale-late"].UID = "foreign"
	f.pass()
	same.As(t, "kept", lifecycle.Keep{Archive: true}, f.keeps())
}

// A load waits, with its workers ready, for the load before it. What happens to a worker then, as with a restart
// of the operator, has the whole start deadline again.
func TestAWaitingLoadOutlivesARestart(t *testing.T) {
	waits := &lifecycle.Parent{Name: "sale", Lists: true} // Begin is nil: the load before it runs
	ready := exchange.Worker{Connected: true, Ready: true, Answers: 16, Descriptors: oneDigest}
	for name, c := range map[string]struct {
		away func() lifecycle.Observed
		says string
	}{
		"another process, no worker has found it yet": {func() lifecycle.Observed {
			w := there(exchange.Worker{})
			return lifecycle.Observed{Job: lifecycle.JobPresent, Workers: []exchange.Worker{w, w, w}} // Since is zero
		}, "3 of 3 workers not ready yet."},
		"one session ended for a moment": {func() lifecycle.Observed {
			s := three(exchange.Worker{LastSeen: began.Add(10 * time.Minute)})
			s.Since = began
			return s
		}, "1 of 3 workers not ready yet."},
	} {
		t.Run(name, func(t *testing.T) {
			lt := &v1beta1.LoadTest{Spec: ladder()} // startDeadlineSeconds: 60
			for range 2 {
				lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Parent: waits}, began).Status
			}
			lt.Status.TargetURL = "http://shortener:8080"
			look := func(seen lifecycle.Observed, after time.Duration) string {
				t.Helper()
				seen.Parent = waits
				d, err := lifecycle.DecideUnwritten(lt, policy.Rules{}, seen, began.Add(after))
				must.Succeed(t, err)
				if lt.Status = d.Status; lt.Status.Verdict != "" {
					return string(lt.Status.Verdict) + " " + said(lt.Status, v1beta1.ConditionCarriedOut)
				}
				return said(lt.Status, v1beta1.ConditionWorkersReady)
			}
			seen := three(ready)
			seen.Since = began
			if look(seen, 20*time.Second); !meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionWorkersReady) {
				t.Fatal(lt.Status.Conditions)
			}
			want := "False Waiting: " + c.says + " The run gives up at 10:11:00 UTC (startDeadlineSeconds)."
			same.As(t, "once a worker is away", want, look(c.away(), 10*time.Minute))
			same.As(t, "shortly before the deadline", want, look(c.away(), 11*time.Minute-time.Second))
			same.As(t, "at the deadline", "Error False StartDeadlineExceeded: The workers were not ready within startDeadlineSeconds (60s). "+c.says, look(c.away(), 11*time.Minute))
		})
	}
}
