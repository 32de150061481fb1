package decision_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// starts are the times at which a schedule starts LoadTests between two instants, by a
// clock that stops at each minute.
func starts(t *testing.T, expression, zone string, from, to time.Time) []string {
	t.Helper()
	s := nightly(func(s *v1beta1.LoadTestSchedule) {
		s.Spec.Schedule, s.Spec.TimeZone, s.CreationTimestamp = expression, zone, metav1.NewTime(from)
	})
	var list []string
	names := map[string]bool{}
	for now := from; !now.After(to); now = now.Add(time.Minute) {
		d := decision.Decide(s, decision.Observed{}, now)
		if d.Start != nil {
			if names[d.Start.Name] {
				t.Fatalf("%s is started twice", d.Start.Name)
			}
			names[d.Start.Name] = true
			list = append(list, now.UTC().Format("01-02 15:04"))
			d = decision.Decide(s, decision.Observed{Created: d.Start.Name}, now)
		}
		s.Status = d.Status
		if s.Status.MissedRuns > 0 {
			t.Fatalf("at %s a time was missed", now)
		}
	}
	return list
}

// TestDaylightSaving says what becomes of times in the hour that does not exist and in
// the one that is there twice. In Berlin, in 2026, they are 2026-03-29 and 2026-10-25.
func TestDaylightSaving(t *testing.T) {
	spring, autumn := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		expression, zone string
		from             time.Time
		want             []string
	}{
		"before it, forward":            {"30 1 * * *", "Europe/Berlin", spring, []string{"03-28 00:30", "03-29 00:30", "03-29 23:30"}},
		"in the hour that is not there": {"30 2 * * *", "Europe/Berlin", spring, []string{"03-28 01:30", "03-30 00:30"}},
		"after it, forward":             {"30 3 * * *", "Europe/Berlin", spring, []string{"03-28 02:30", "03-29 01:30", "03-30 01:30"}},
		"in the hour that is there twice": {
			"30 2 * * *", "Europe/Berlin", autumn, []string{"10-24 00:30", "10-25 00:30", "10-25 01:30", "10-26 01:30"},
		},
		"after it, back":                     {"30 3 * * *", "Europe/Berlin", autumn, []string{"10-24 01:30", "10-25 02:30", "10-26 02:30"}},
		"in UTC":                             {"30 2 * * *", "", spring, []string{"03-28 02:30", "03-29 02:30", "03-30 02:30"}},
		"forward at midnight":                {"0 12 * * 5", "Africa/Cairo", time.Date(2026, 4, 22, 12, 0, 0, 0, time.UTC), []string{"04-24 09:00"}},
		"forward at midnight, the day after": {"45 8 * * 6", "America/Santiago", time.Date(2026, 9, 5, 18, 0, 0, 0, time.UTC), nil},
		"forward by half an hour":            {"0 3 * * *", "Australia/Lord_Howe", time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC), []string{"10-03 16:00", "10-04 16:00", "10-05 16:00"}},
		"half an hour beside":                {"0 2 * * *", "Asia/Kolkata", spring, []string{"03-28 20:30", "03-29 20:30"}},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			same.As(t, "starts", tt.want, starts(t, tt.expression, tt.zone, tt.from, tt.from.Add(60*time.Hour)))
		})
	}
}

// TestLatestTimeAfterYears finds the time that is to be made up for without counting
// through all that were missed.
func TestLatestTimeAfterYears(t *testing.T) {
	for expression, want := range map[string]string{
		"* * * * *":    "2026-11-20 10:07",
		"0 0 1 1 *":    "2026-01-01 00:00",
		"0 12 29 2 *":  "2024-02-29 12:00",
		"@weekly":      "2026-11-15 00:00",
		"0 9-17 * * 1": "2026-11-16 17:00",
	} {
		s := nightly(func(s *v1beta1.LoadTestSchedule) {
			s.Spec.Schedule, s.CreationTimestamp = expression, metav1.NewTime(at("00:00:00").AddDate(-4, 0, 0))
		})
		d := decision.Decide(s, decision.Observed{}, at("10:07:30"))
		at, _ := time.Parse("2006-01-02 15:04", want)
		if d.Start == nil || d.Start.Name != fmt.Sprintf("nightly-%d", at.Unix()/60) {
			t.Errorf("%s: %v, want that of %s", expression, d.Start, want)
		}
	}
}
