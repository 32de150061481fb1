package local_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// addTargets adds a ConfigMap with a targets file of 10,000 targets.
func addTargets(t *testing.T, files *local.Objects, host string) {
	t.Helper()
	var text strings.Builder
	for n := range 10_000 {
		fmt.Fprintf(&text, "GET %s/%d\n", host, n)
	}
	o := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: replay}}")
	o.Object["data"] = map[string]any{"targets.txt": text.String()}
	must.Succeed(t, files.Add(o))
}

// All workers together send each target in turn: after 1,500 requests, the first 1,500
// of 10,000 were sent once.
func TestTargetsAreSentInTurnByAllWorkers(t *testing.T) {
	s := newTarget(t, func(r *http.Request) string { return r.URL.Path })
	c := config(t)
	addTargets(t, c.Files, "http://shortener.local.svc:80")
	c.Services = local.Services{"shortener": strings.TrimPrefix(s.URL, "http://")}
	lt := loadTest(t, s.URL, `{target: {url: TARGET}, parallelism: 3,
  requests: [{name: replay, http: {targets: {from: {configMap: {name: replay, key: targets.txt}}}}}], steps: [{name: replay, rate: 500, duration: 3s}]}`)
	got := carryOut(t, lt, c)
	passes(t, got)
	r := got.Status.Steps[0].Result
	if sent := int64(len(s.seen)); sent != r.Sent || r.Due != 1500 || r.Types[0].Name != "Mixed" {
		t.Fatalf("%d targets were seen; due %d, sent %d, types %+v", sent, r.Due, r.Sent, r.Types)
	}
	for n := range 1500 {
		if times := s.seen[fmt.Sprintf("/%d", n)]; times > 1 || times < 1 && r.Unsent == 0 {
			t.Errorf("target %d was sent %d times, want once", n, times)
		}
	}
}

func TestTargetsOfAnotherHostEndTheRun(t *testing.T) {
	s := newTarget(t, nil)
	c := config(t)
	addTargets(t, c.Files, "http://other.example")
	lt := loadTest(t, s.URL, `{target: {url: TARGET},
  requests: [{name: replay, http: {targets: {from: {configMap: {name: replay, key: targets.txt}}}}}], steps: [{name: replay, rate: 10, duration: 1s}]}`)
	got := carryOut(t, lt, c)
	want := "targets.txt of ConfigMap replay: line 1: the URL has another scheme, host or port than spec.target, " + s.URL
	if said := fmt.Sprint(got.Status.Conditions); got.Status.Verdict != "Error" || !strings.Contains(said, want) {
		t.Errorf("verdict %s, conditions %s\ndo not say %q", got.Status.Verdict, said, want)
	}
	if s.asked.Load() != 0 {
		t.Errorf("%d requests were sent", s.asked.Load())
	}
}
