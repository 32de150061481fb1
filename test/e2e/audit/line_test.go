package audit

import (
	"errors"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLine(t *testing.T) {
	quiet, killed := Preset{Name: "seed-000-v1"}, Preset{Name: "seed-003-1gb", Disturbed: true}
	tests := map[string]struct {
		line Line
		want string
	}{
		"as it should be": {
			line: Line{
				Preset: quiet, Ready: 12300 * time.Millisecond, Tested: true, Sent: 12000, Verdict: "Passed",
				Findings: []string{"stored 3000 = acknowledged 3000", "clicks 9000 = redirects 9000"},
			},
			want: "targets: seed-000-v1 ready 12s, test passed, 12000 sent, stored 3000 = acknowledged 3000, clicks 9000 = redirects 9000, verdict Passed",
		},
		"with app killed": {
			line: Line{Preset: killed, Ready: 9 * time.Second, Tested: true, Killed: []string{"app"}, Sent: 1600, Failed: 310, Findings: []string{"stored 7 = acknowledged 7"}},
			want: "targets: seed-003-1gb ready 9s, test passed, app killed, 1600 sent, 310 failed, stored 7 = acknowledged 7",
		},
		"never ready": {
			line: Line{Preset: killed, Err: errors.New("helm install: timed out\nmore that is not for the line")},
			want: "targets: seed-003-1gb FAILED: helm install: timed out",
		},
		"a test that failed": {
			line: Line{Preset: quiet, Ready: time.Second, Err: errors.New("helm test: status 500")},
			want: "targets: seed-000-v1 ready 1s, FAILED: helm test: status 500",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.line.String(); got != tc.want {
				t.Errorf("line is\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	same.As(t, "summary", "targets: 17 presets, 0 failed", Summary(17, 0))
}
