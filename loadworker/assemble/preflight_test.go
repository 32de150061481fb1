package assemble

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// asking is an assignment that asks for the strategy of the target, with a header
// that is secret.
func asking(t *testing.T, url string, steps ...*workerv1.Step) *workerv1.Assignment {
	t.Helper()
	a := workertest.Assignment(url, steps...)
	a.Requests[0].Path = "/api"
	a.Preflight = []*workerv1.Request{{
		Name: "GET /version", Method: "GET", Path: "/version", ExpectedStatus: []int32{200},
		Headers:      []*workerv1.Header{{Name: "Authorization", ValueFile: file(t, "Bearer top-secret\n")}},
		ExpectedJson: []*workerv1.ExpectedValue{{Path: ".strategy", Equals: "lua"}},
	}}
	return a
}

// startLimiter starts a target that answers with its version.
func startLimiter(t *testing.T, about string) *groundtruth.Server {
	t.Helper()
	return groundTruth(t, &workerv1.Target{}, groundtruth.Config{Routes: map[string]groundtruth.Route{
		"version": {Reply: groundtruth.JSON(about)}, "api": {},
	}})
}

func TestPreflightPasses(t *testing.T) {
	server := startLimiter(t, `{"strategy":"lua","capacity":50}`)
	x := prepared(t, asking(t, server.URL(), workertest.Burst(0, 3, 2)), testConfig(), ignore)
	if n := x.PreflightAnswers(); n != 1 {
		t.Errorf("%d questions were answered, want 1", n)
	}
	if n := server.Counters().Routes; n["version"] != 1 || n["api"] != 0 {
		t.Errorf("before the first step the server got %v, want one question alone", n)
	}
	if got := run(t, x); got.Requests[0].Sent != 6 || got.ConnectionsOpened != 3 {
		t.Errorf("sent %d on %d connections, want 6 on 3: the question is no part of the step", got.Requests[0].Sent, got.ConnectionsOpened)
	}
}

func TestPreflightRefusals(t *testing.T) {
	tests := map[string]struct {
		about           string
		change          func(*workerv1.Assignment)
		reason, message string
		asked           int64
	}{
		"another strategy": {
			about: `{"strategy":"hash"}`, asked: 1,
			reason: "PreflightFailed", message: `preflight: GET /version: .strategy: a string of 4 bytes instead of "lua"`,
		},
		"the second question": {
			about: `{"strategy":"lua"}`, asked: 2,
			change: func(a *workerv1.Assignment) {
				a.Preflight = append(a.Preflight, &workerv1.Request{
					Name: "store", Method: "GET", Path: "/version",
					ExpectedJson: []*workerv1.ExpectedValue{{Path: ".store", Equals: "redis"}},
				})
			},
			reason: "PreflightFailed", message: `preflight: store: .store: the body of 18 bytes has none; "redis" is expected`,
		},
		"a path that is no template": {
			change: func(a *workerv1.Assignment) { a.Preflight[0].Path = "/${foo}" },
			reason: "InvalidSpec", message: `preflight[0].http "GET /version": path: unknown variable ${foo}`,
		},
		"a column": {
			change: func(a *workerv1.Assignment) {
				a.Data = []*workerv1.Data{{Name: "codes", File: file(t, "code\nx\n"), Format: workerv1.DataFormat_DATA_FORMAT_CSV}}
				a.Preflight[0].Path = "/${code}"
			},
			reason: "InvalidSpec", message: `preflight[0].http "GET /version": path: unknown variable ${code}`,
		},
		"a path without a slash, and one that is well": {
			change: func(a *workerv1.Assignment) {
				a.Preflight = append(a.Preflight, &workerv1.Request{Name: "other", Method: "GET", Path: "version"})
			},
			reason: "InvalidSpec", message: `preflight[1].http "other": path: must begin with a slash`,
		},
		"a header that is not there": {
			change: func(a *workerv1.Assignment) { a.Preflight[0].Headers[0].ValueFile = "/does/not/exist" },
			reason: "InvalidSpec", message: `preflight[0].http "GET /version": header "Authorization": open /does/not/exist: no such file`,
		},
		"a header with a control character": {
			change: func(a *workerv1.Assignment) { a.Preflight[0].Headers[0].ValueFile = file(t, "top-\x00secret") },
			reason: "InvalidSpec", message: `preflight[0].http "GET /version": header "Authorization": its value holds a control character`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := startLimiter(t, tt.about)
			a := asking(t, server.URL(), workertest.Burst(0, 1, 1))
			a.Setup = &workerv1.Setup{WarmUp: &workerv1.WarmUp{Request: 0, DurationNanos: 1e6}}
			if tt.change != nil {
				tt.change(a)
			}
			got := refusal(t, a, testConfig())
			if got.Reason != tt.reason || !strings.Contains(got.Error(), tt.message) || strings.Contains(got.Error(), "secret") {
				t.Errorf("refused for %s: %v, want %s: …%s…", got.Reason, got, tt.reason, tt.message)
			}
			if n := server.Counters().Routes; n["version"] != tt.asked || n["api"] != 0 {
				t.Errorf("the server got %v, want %d questions and nothing else", n, tt.asked)
			}
		})
	}
}

// A target that is not ready, or does not answer, is asked again.
func TestPreflightWaitsForTheTarget(t *testing.T) {
	tests := map[string]struct {
		notReady http.HandlerFunc
		message  string
	}{
		"it answers so": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
			`preflight: GET /version: status 503 Service Unavailable instead of 200: the target is not ready`,
		},
		"it does not answer": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			`preflight: GET /version: read: unexpected EOF`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var there atomic.Bool
			var header atomic.Value
			server := workertest.NewTarget(t, func(w http.ResponseWriter, r *http.Request) {
				header.Store(r.Header.Get("Authorization"))
				if !there.Load() {
					tt.notReady(w, r)
					return
				}
				_, _ = io.WriteString(w, `{"strategy":"lua"}`)
			})
			var waits int
			prepared(t, asking(t, server.URL, workertest.Burst(0, 1, 1)), testConfig(), unreachable(t, tt.message, func() {
				waits++
				there.Store(true)
			}))
			if waits == 0 || header.Load() != "Bearer top-secret" {
				t.Errorf("it waited %d times, and the target got the header %q", waits, header.Load())
			}
		})
	}
}
