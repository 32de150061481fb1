package lifecycle_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// keeps is what a finished run asks to keep while nothing was tried yet.
func (f *family) keeps() lifecycle.Keep {
	seen := f.seen()
	seen.Keeping.Wanted = policy.Results{Archived: true, Announced: true, Wait: time.Hour}
	return lifecycle.Decide(f.parent, policy.Rules{}, seen, f.now).Keep
}

// The verdict of a run is announced once the results of a load could not be archived: those of the run wait for
// them.
func TestTheVerdictOfLoadsIsAnnouncedThoughTheStoreIsAway(t *testing.T) {
	f := begun(t)
	f.endForegrounds()
	f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	f.pass()
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
