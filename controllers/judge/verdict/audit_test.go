package verdict_test

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestAudit(t *testing.T) {
	tests := map[string]struct {
		acknowledged int64
		unknown      *int64
		after        int64 // 100 before
		want         string
	}{
		"exact":                     {10, ptr(int64(0)), 110, "Passed: Audit links: .links grew by 10, from 100 to 110; 10 were acknowledged."},
		"none of the unknown":       {10, ptr(int64(3)), 110, "Passed: Audit links: .links grew by 10, from 100 to 110; 10 were acknowledged, and 3 more may have been stored."},
		"all of the unknown":        {10, ptr(int64(3)), 113, "Passed: Audit links: .links grew by 13, from 100 to 113; 10 were acknowledged, and 3 more may have been stored."},
		"one more":                  {10, ptr(int64(3)), 114, "Failed: Audit links: 1 more are stored than were sent without being refused; .links grew by 14, from 100 to 114; 10 were acknowledged, and 3 more may have been stored. They were stored twice, or by another client."},
		"one lost":                  {10, ptr(int64(3)), 109, "Failed: Audit links: 1 of the 10 acknowledged is missing; .links grew by 9, from 100 to 109."},
		"the only one lost":         {1, ptr(int64(0)), 100, "Failed: Audit links: 1 of the 1 acknowledged is missing; .links grew by 0, from 100 to 100."},
		"all lost":                  {10, ptr(int64(0)), 100, "Failed: Audit links: 10 of the 10 acknowledged are missing; .links grew by 0, from 100 to 100."},
		"more than all lost":        {10, ptr(int64(0)), 40, "Failed: Audit links: 10 of the 10 acknowledged are missing; .links fell by 60, from 100 to 40."},
		"only earlier ones lost":    {0, ptr(int64(5)), 99, "Failed: Audit links: .links fell by 1, from 100 to 99, although nothing was to be removed."},
		"nothing acknowledged":      {0, ptr(int64(5)), 104, "Inconclusive: Audit links: nothing was acknowledged, so there is nothing to compare with; .links grew by 4, from 100 to 104."},
		"nothing at all":            {0, ptr(int64(5)), 100, "Inconclusive: Audit links: nothing was acknowledged, so there is nothing to compare with; .links grew by 0, from 100 to 100."},
		"no bound":                  {10, nil, 200, "Inconclusive: Audit links: .links grew by 100, from 100 to 200; 10 were acknowledged, and it is not known how many more were sent, because a worker was lost."},
		"no bound, and one is lost": {10, nil, 109, "Failed: Audit links: 1 of the 10 acknowledged is missing; .links grew by 9, from 100 to 109."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := verdict.Audit(".links", v1beta1.AuditStatus{Name: "links", Before: ptr(int64(100)), After: &tt.after, Acknowledged: tt.acknowledged, Unknown: tt.unknown})
			same.As(t, "audit", tt.want, string(a.State)+": "+a.Message)
			if *a.Change != tt.after-100 {
				t.Errorf("change %d, want %d", *a.Change, tt.after-100)
			}
		})
	}
}

func TestAuditThatWasNotReadSaysWhen(t *testing.T) {
	for point, want := range map[v1beta1.AuditPoint]string{
		v1beta1.AuditBefore: "Audit links: .links is unknown before the first step: no answer.",
		v1beta1.AuditAfter:  "Audit links: .links is unknown after the last step: no answer.",
	} {
		if got := verdict.Unread(".links", v1beta1.AuditStatus{Name: "links"}, point, "no answer"); got.State != v1beta1.AuditInconclusive || got.Message != want {
			t.Errorf("%s: %s: %q, want %q", point, got.State, got.Message, want)
		}
	}
}

func TestLongSentenceOfAnAuditFitsTheAPI(t *testing.T) {
	a := verdict.Unread(".links", v1beta1.AuditStatus{Name: "links"}, v1beta1.AuditAfter, strings.Repeat("long ", 200))
	if len(a.Message) != 512 || !strings.HasSuffix(a.Message, ".") {
		t.Errorf("%d bytes, of at most 512, ending with %q", len(a.Message), a.Message[len(a.Message)-8:])
	}
}

// withAudits is a status in which all thresholds were kept, with audits in these states.
func withAudits(states ...v1beta1.AuditState) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		for i, state := range states {
			name := string(rune('a' + i))
			s.Audits = append(s.Audits, v1beta1.AuditStatus{Name: name, State: state, Message: "Audit " + name + " is " + string(state) + "."})
		}
	}
}

func TestAuditsDecideTheVerdict(t *testing.T) {
	const pass, fail, doubt, pending = v1beta1.AuditPassed, v1beta1.AuditFailed, v1beta1.AuditInconclusive, v1beta1.AuditPending
	lost := func(s *v1beta1.LoadTestStatus) { s.Workers.Lost = 1 }
	breached := func(s *v1beta1.LoadTestStatus) {
		s.Thresholds[0].State, s.Thresholds[0].Message = v1beta1.ThresholdFailed, "Too many failed."
	}
	tests := map[string]struct {
		status *v1beta1.LoadTestStatus
		want   string
	}{
		"all passed":              {done(withAudits(pass, pass)), "Passed ThresholdsKept: Both thresholds were kept."},
		"the only one passed":     {done(withAudits(pass)), "Passed ThresholdsKept: Both thresholds were kept."},
		"one failed":              {done(withAudits(pass, fail)), "Failed AuditFailed: Audit b is Failed."},
		"three failed":            {done(withAudits(fail, fail, fail)), "Failed AuditFailed: Audit a is Failed. 2 more audits failed."},
		"one is in doubt":         {done(withAudits(pass, doubt)), "Inconclusive Inconclusive: Audit b is Inconclusive."},
		"one was never judged":    {done(withAudits(pending)), "Inconclusive Inconclusive: Audit a is Pending."},
		"lost data, lost workers": {done(withAudits(fail), lost), "Failed AuditFailed: Audit a is Failed."},
		"and a breach":            {done(withAudits(fail, fail), breached), "Failed AuditFailed: Audit a is Failed. One more audit failed. Too many failed."},
		"a breach and a doubt":    {done(withAudits(doubt), breached), "Failed ThresholdBreached: Too many failed."},
		"one that is not there":   {done(), "Inconclusive Inconclusive: Audit a was not performed: the operator that started the run does not support it."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := ladder(10, 100, 1000)
			s.Audits = []v1beta1.Audit{{Name: "a", Stored: &v1beta1.Stored{}}}
			j := verdict.Final(s, tt.status)
			same.As(t, "verdict", tt.want, string(j.Verdict)+" "+j.Reason+": "+j.Message)
		})
	}
}
