package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// both is a configuration that has results archived and verdicts announced.
var both = policy.Results{Archived: true, Announced: true, Wait: time.Hour}

// over is a run that ended when others begin, as the cache has it.
func over(ttl *int32, conditions ...string) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{TTLSecondsAfterFinished: ttl}}
	lt.Status.Verdict, lt.Status.CompletionTime = v1beta1.VerdictPassed, ptr.To(metav1.NewTime(began))
	for _, kind := range append(conditions, v1beta1.ConditionFinished, v1beta1.ConditionThresholdsMet) {
		meta.SetStatusCondition(&lt.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind})
	}
	return lt
}

func TestResultsAreKeptBeforeTheLoadTestGoes(t *testing.T) {
	type will struct {
		Keep           lifecycle.Keep
		Delete, Unkept bool
		RequeueAfter   time.Duration
	}
	const archived, announced = v1beta1.ConditionArchived, v1beta1.ConditionAnnounced
	none, failed := ptr.To[int32](0), lifecycle.Effort{Failed: "it failed", Attempts: 1, At: began}
	often := lifecycle.Effort{Failed: "it failed", Attempts: 99, At: began}
	done, underWay := lifecycle.Effort{Done: "It is kept.", Attempts: 1}, lifecycle.Effort{UnderWay: true}
	for name, tc := range map[string]struct {
		lt    *v1beta1.LoadTest
		seen  lifecycle.Keeping
		after time.Duration
		want  will
	}{
		"nothing is configured":          {over(none), lifecycle.Keeping{}, 0, will{Delete: true}},
		"the first attempt":              {over(nil), lifecycle.Keeping{Wanted: both}, 0, will{Keep: lifecycle.Keep{Archive: true}}},
		"it is under way":                {over(nil), lifecycle.Keeping{Wanted: both, Archive: underWay}, 0, will{}},
		"a time to live of nothing":      {over(none), lifecycle.Keeping{Wanted: both, Archive: underWay}, 0, will{RequeueAfter: time.Hour}},
		"one attempt failed":             {over(nil), lifecycle.Keeping{Wanted: both, Archive: failed}, time.Second, will{Keep: lifecycle.Keep{Announce: true}, RequeueAfter: 4 * time.Second}},
		"the second attempt":             {over(nil), lifecycle.Keeping{Wanted: both, Archive: failed}, 5 * time.Second, will{Keep: lifecycle.Keep{Archive: true, Announce: true}}},
		"many attempts failed":           {over(nil), lifecycle.Keeping{Wanted: both, Archive: often, Announce: done}, 0, will{RequeueAfter: 15 * time.Minute}},
		"archived":                       {over(nil), lifecycle.Keeping{Wanted: both, Archive: done}, 0, will{Keep: lifecycle.Keep{Announce: true}}},
		"archived by another process":    {over(none, archived), lifecycle.Keeping{Wanted: both}, 0, will{Keep: lifecycle.Keep{Announce: true}, RequeueAfter: time.Hour}},
		"both":                           {over(none, archived, announced), lifecycle.Keeping{Wanted: both}, 0, will{Delete: true}},
		"both by this process":           {over(none), lifecycle.Keeping{Wanted: both, Archive: done, Announce: done}, 0, will{Delete: true}},
		"the webhook does not answer":    {over(none, archived), lifecycle.Keeping{Wanted: both, Announce: failed}, time.Second, will{RequeueAfter: 4 * time.Second}},
		"the webhook was waited for":     {over(none, archived), lifecycle.Keeping{Wanted: both, Announce: often}, time.Hour, will{Delete: true}},
		"old news are not waited for":    {over(ptr.To[int32](3600), archived), lifecycle.Keeping{Wanted: policy.Results{Archived: true, Announced: true, Wait: time.Minute}}, time.Hour, will{Delete: true}},
		"old news are not announced":     {over(nil, archived), lifecycle.Keeping{Wanted: both}, time.Hour, will{}},
		"the store was waited for":       {over(ptr.To[int32](60)), lifecycle.Keeping{Wanted: both, Archive: often}, time.Hour + time.Minute, will{Keep: lifecycle.Keep{Archive: true}, Delete: true, Unkept: true}},
		"not for as long":                {over(ptr.To[int32](60)), lifecycle.Keeping{Wanted: both, Archive: lifecycle.Effort{Failed: "x", Attempts: 1, At: began.Add(time.Hour)}}, time.Hour, will{RequeueAfter: 5 * time.Second}},
		"the configuration is not known": {over(none), lifecycle.Keeping{Wanted: policy.Results{Unknown: true, Wait: time.Hour}}, 0, will{RequeueAfter: time.Hour}},
		"and will not be":                {over(none), lifecycle.Keeping{Wanted: policy.Results{Unknown: true, Wait: time.Hour}}, time.Hour, will{Delete: true, Unkept: true}},
		"announced, and not archived":    {over(nil), lifecycle.Keeping{Wanted: policy.Results{Announced: true, Wait: time.Hour}}, 0, will{Keep: lifecycle.Keep{Announce: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := lifecycle.Decide(tc.lt, policy.Rules{}, lifecycle.Observed{Keeping: tc.seen}, began.Add(tc.after))
			same.As(t, "decision", tc.want, will{d.Keep, d.Delete, d.Unkept, d.RequeueAfter})
			again := lifecycle.Abandon(tc.lt, lifecycle.PassFailed("x", 0), lifecycle.Observed{Keeping: tc.seen}, began.Add(tc.after))
			same.As(t, "decision about a run that was abandoned", tc.want, will{again.Keep, again.Delete, again.Unkept, again.RequeueAfter})
		})
	}
}

// The conditions say what became of it, events what is new.
func TestConditionsSayWhetherResultsAreKept(t *testing.T) {
	tell := func(k lifecycle.Keeping, lt *v1beta1.LoadTest) string {
		k.Wanted = both
		d := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Keeping: k}, began.Add(time.Second))
		lt.Status = d.Status
		lines := []string{said(d.Status, v1beta1.ConditionArchived), said(d.Status, v1beta1.ConditionAnnounced)}
		for _, e := range d.Events {
			lines = append(lines, fmt.Sprint(e.Reason, " ", e.Warning))
		}
		return strings.Join(lines, "|")
	}
	lt := over(nil)
	failed, done := lifecycle.Effort{Failed: "the server answered 500", Attempts: 1, At: began}, lifecycle.Effort{Done: "It is kept.", Attempts: 2}
	for _, tc := range []struct {
		keeping lifecycle.Keeping
		want    string
	}{
		{lifecycle.Keeping{}, "|"},
		{lifecycle.Keeping{Archive: failed}, "False ArchiveFailed: The results could not be archived: the server answered 500.||ArchiveFailed true"},
		{lifecycle.Keeping{Archive: failed}, "False ArchiveFailed: The results could not be archived: the server answered 500.|"},
		{lifecycle.Keeping{Archive: lifecycle.Effort{Failed: "it does not answer", Attempts: 2, At: began}}, "False ArchiveFailed: The results could not be archived: it does not answer.||ArchiveFailed true"},
		{lifecycle.Keeping{Archive: done, Announce: failed}, "True Archived: It is kept.|False AnnouncementFailed: The webhook did not accept the verdict: the server answered 500.|Archived false|AnnouncementFailed true"},
		{lifecycle.Keeping{Archive: done, Announce: done}, "True Archived: It is kept.|True Announced: It is kept.|Announced false"},
		{lifecycle.Keeping{}, "True Archived: It is kept.|True Announced: It is kept."},
	} {
		if got := tell(tc.keeping, lt); got != tc.want {
			t.Errorf("%+v:\n%s, want\n%s", tc.keeping, got, tc.want)
		}
	}
}

// A failure says that more attempts follow: it goes with the destination, and stays while the
// configuration cannot be read.
func TestFailuresGoWithTheirDestination(t *testing.T) {
	const failed = "False X: x|False X: x"
	for name, tc := range map[string]struct {
		status metav1.ConditionStatus
		wanted policy.Results
		want   string
	}{
		"nothing is wanted":              {metav1.ConditionFalse, policy.Results{}, "|"},
		"the webhook alone":              {metav1.ConditionFalse, policy.Results{Announced: true}, "|False X: x"},
		"the store alone":                {metav1.ConditionFalse, policy.Results{Archived: true}, "False X: x|"},
		"both":                           {metav1.ConditionFalse, both, failed},
		"the configuration is not known": {metav1.ConditionFalse, policy.Results{Unknown: true}, failed},
		"what was done":                  {metav1.ConditionTrue, policy.Results{}, "True X: x|True X: x"},
	} {
		lt := over(nil)
		for _, kind := range []string{v1beta1.ConditionArchived, v1beta1.ConditionAnnounced} {
			meta.SetStatusCondition(&lt.Status.Conditions, metav1.Condition{Type: kind, Status: tc.status, Reason: "X", Message: "x"})
		}
		d := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Keeping: lifecycle.Keeping{Wanted: tc.wanted}}, began.Add(2*time.Hour))
		got := said(d.Status, v1beta1.ConditionArchived) + "|" + said(d.Status, v1beta1.ConditionAnnounced)
		same.As(t, name+": what is kept", tc.want, got)
	}
}

func TestHistoryWaitsForResults(t *testing.T) {
	const archived, announced = v1beta1.ConditionArchived, v1beta1.ConditionAnnounced
	hour := began.Add(time.Hour)
	for name, tc := range map[string]struct {
		lt     *v1beta1.LoadTest
		wanted policy.Results
		want   time.Time
	}{
		"nothing is configured":      {over(nil), policy.Results{Wait: time.Hour}, time.Time{}},
		"neither":                    {over(nil), both, hour},
		"archived":                   {over(nil, archived), both, hour},
		"announced":                  {over(nil, announced), both, hour},
		"both":                       {over(nil, archived, announced), both, time.Time{}},
		"the configuration is wrong": {over(nil, archived), policy.Results{Unknown: true, Wait: time.Hour}, hour},
		"it has not finished":        {&v1beta1.LoadTest{}, both, time.Time{}},
	} {
		if got := lifecycle.WaitedFor(tc.lt, tc.wanted); !got.Equal(tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
