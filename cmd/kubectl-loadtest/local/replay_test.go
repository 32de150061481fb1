package local_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A log from a claim, between two workers: what is due is what the log has, to the line.
func TestALogIsReplayedHere(t *testing.T) {
	s := newTarget(t, func(r *http.Request) string {
		return fmt.Sprintf("%s %s with %q", r.Method, r.URL, r.Header.Get("X-Token"))
	})
	var log strings.Builder
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for i := range 100 {
		method, path := "GET", fmt.Sprintf("http://production.example/items/%d?q", i)
		switch i % 10 {
		case 3:
			method = "POST"
		case 5:
			path = fmt.Sprintf("/${user}/%d", i)
		case 7:
			path = "/admin"
		}
		fmt.Fprintf(&log, "{\"start_time\":%q,\"method\":%q,\"path\":%q}\n", noon.Add(time.Duration(i)*20*time.Millisecond).Format(time.RFC3339Nano), method, path)
	}
	log.WriteString("no request, with a secret\n")
	folder := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(folder, "access.log"), []byte(log.String()), 0o600))
	c := config(t)
	c.Files.SetClaims(map[string]string{"loadtest-logs": folder})
	lt := loadTest(t, s.URL, `{target: {url: TARGET}, parallelism: 2,
  requests: [{name: rest, http: {}}, {name: item, http: {method: PUT, path: /mine, headers: [{name: X-Token, value: tested}]}}],
  replay: {from: {volume: {claim: loadtest-logs, path: access.log}}, speed: 2, duration: 2s, routes: [{path: ^/items/, request: item}, {path: user, request: rest}]}}`)
	got := carryOut(t, lt, c)
	if why := v1beta1.NotCarriedOut(got.Status.Conditions); why != nil {
		t.Fatalf("%s: %s", why.Reason, why.Message)
	}
	if step := got.Status.Steps[0]; step.State != v1beta1.StepComplete {
		t.Fatalf("the step is %s: %s", step.State, step.Message)
	}
	r := got.Status.Steps[0].Result
	mistake := r.Replay.Mistake
	r.Replay.Mistake = ""
	same.As(t, "lines", &v1beta1.ReplayResult{Lines: 101, NotParsed: 1, OtherMethods: 10, NotRouted: 10}, r.Replay)
	if !strings.HasPrefix(mistake, "line 101: the line has no known format") || strings.Contains(mistake, "secret") {
		t.Errorf("mistake %q", mistake)
	}
	if r.Due != 80 || *r.Requests[0].Due != 10 || *r.Requests[1].Due != 70 {
		t.Errorf("%d are due, %d of them of rest and %d of item; want 80, 10, 70", r.Due, *r.Requests[0].Due, *r.Requests[1].Due)
	}
	// The machine may be too busy to send all, but what it says is what the target had.
	var sent int64
	for what, n := range s.seen {
		sent += int64(n)
		item := strings.HasPrefix(what, "GET /items/") && strings.HasSuffix(what, `?q with "tested"`)
		rest := strings.HasPrefix(what, "GET /$%7Buser%7D/") || strings.HasPrefix(what, "GET /${user}/")
		if n != 1 || !item && !rest {
			t.Errorf("the target had %d times %s", n, what)
		}
	}
	if sent != r.Sent || sent == 0 {
		t.Errorf("the target had %d, sent are %d", sent, r.Sent)
	}
}

func TestALogThatCannotBeReplayedIsRefusedHere(t *testing.T) {
	served := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true }))
	t.Cleanup(s.Close)
	folder := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(folder, "access.log"), []byte("\x00\x01\n"), 0o600))
	c := config(t)
	c.Files.SetClaims(map[string]string{"loadtest-logs": folder})
	lt := loadTest(t, s.URL, `{target: {url: TARGET}, requests: [{name: all, http: {}}], preflight: [{http: {path: /version}}],
  replay: {from: {volume: {claim: loadtest-logs, path: access.log}}, duration: 2s}}`)
	got := carryOut(t, lt, c)
	why := v1beta1.NotCarriedOut(got.Status.Conditions)
	if why == nil || !strings.Contains(why.Message, "spec.replay.from: no line of the log is a request: line 1: the line has no known format") {
		t.Errorf("%+v", why)
	}
	if served {
		t.Error("the target was asked before the log was read")
	}
}
