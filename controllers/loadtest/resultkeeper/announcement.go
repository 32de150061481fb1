package resultkeeper

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// announcement is what the webhook is sent about a run.
type announcement struct {
	Format    string          `json:"format"`
	Namespace string          `json:"namespace"`
	Name      string          `json:"name"`
	UID       types.UID       `json:"uid"`
	Verdict   v1beta1.Verdict `json:"verdict"`
	Reason    string          `json:"reason"`
	Summary   string          `json:"summary"`
	Time      time.Time       `json:"time"`
	Results   string          `json:"results,omitempty"`
}

// announcementFormat names the fields of an announcement.
const announcementFormat = "loadtest.dev/verdict/v1"

// announcementOf is about a finished run, of which the cache has no more than this. location
// is where its results would be kept now. It is announced if the status says that they are
// there: they may have been kept before the configuration changed.
func announcementOf(lt *v1beta1.LoadTest, s *v1beta1.LoadTestStatus, location string) announcement {
	a := announcement{Format: announcementFormat, Namespace: lt.Namespace, Name: lt.Name, UID: lt.UID, Verdict: s.Verdict}
	if a.Reason = reasonOf(s, v1beta1.ConditionThresholdsMet); v1beta1.NotCarriedOut(s.Conditions) != nil {
		a.Reason = reasonOf(s, v1beta1.ConditionCarriedOut)
	}
	if c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionFinished); c != nil {
		a.Summary, a.Time = c.Message, c.LastTransitionTime.UTC()
	}
	c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionArchived)
	if c != nil && c.Status == metav1.ConditionTrue && strings.HasPrefix(c.Message, keptAs(location)) {
		a.Results = location
	}
	return a
}

// reasonOf is the reason of a condition; empty: there is none.
func reasonOf(s *v1beta1.LoadTestStatus, kind string) string {
	if c := meta.FindStatusCondition(s.Conditions, kind); c != nil {
		return c.Reason
	}
	return ""
}
