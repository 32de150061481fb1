//go:build e2e

package runs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// both is a spec of which all counts are known beforehand; PATH is what is asked for. The
// last request of step paced is due a third of a second before its end: a busy machine sends
// it, too.
const both = `
target: {service: {name: ratelimiter, port: http}}
requests:
  - {name: read, weight: 3, http: {path: PATH, headers: [{name: X-Forwarded-For, value: "10.7.0.${rand:1-200}"}]}, expect: {status: [200, 429]}}
  - {name: write, http: {method: POST, path: PATH, body: '{"n": ${seq}}'}, expect: {status: [200, 429]}}
steps:
  - {name: paced, users: 3, ratePerUser: 1, duration: 3s}
  - {name: pause, pause: 1s}
  - {name: burst, users: 31, requestsPerUser: 4}
  - {name: arrivals, rate: 40, duration: 3s}
thresholds:
  - {metric: unsentRate, max: 0%}
parallelism: 3
`

// TestLocal: one LoadTest has the same plan and the same verdict on this machine as in the
// cluster, and counts what was sent.
func TestLocal(t *testing.T) {
	cluster.OnlyFull(t)
	t.Parallel()
	ns := cluster.Limiter(t, "ratelimiter.strategy=lua")
	for name, tt := range map[string]struct {
		path    string
		verdict v1beta1.Verdict
	}{"kept": {"/api", v1beta1.VerdictPassed}, "breached": {"/nothing-is-here", v1beta1.VerdictFailed}} {
		spec := strings.ReplaceAll(both, "PATH", tt.path)
		machine := pressure.Start()
		there := cluster.Create(t, ns, name, spec)
		cluster.Finish(t, there)
		here, asked := locally(t, name, spec)
		if diff := cmp.Diff(planOf(there), planOf(here)); diff != "" {
			t.Errorf("%s: plan (-cluster +local):\n%s", name, diff)
		}
		if sent := cluster.SentBy(here); asked != sent {
			t.Errorf("%s: the target was asked %d times, the local status says %d", name, asked, sent)
		}
		for where, lt := range map[string]*v1beta1.LoadTest{"cluster": there, "local": here} {
			if tt.verdict == v1beta1.VerdictPassed {
				cluster.IsPassed(t, lt, machine)
			} else if lt.Status.Verdict != tt.verdict {
				t.Errorf("%s, %s: verdict %s, want %s", name, where, lt.Status.Verdict, tt.verdict)
			}
		}
		fmt.Printf("local: %s: %d requests in the cluster, %d here, cluster %s, local %s\n", name, cluster.SentBy(there), cluster.SentBy(here), there.Status.Verdict, here.Status.Verdict)
	}
}

// locally runs a spec on this machine, against a target that answers as the limiter does,
// and returns how often that was asked for a step.
func locally(t *testing.T, name, spec string) (*v1beta1.LoadTest, int64) {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/api" {
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), name+".yaml")
	manifest := fmt.Sprintf("apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: {name: %s}\nspec:\n  %s", name, strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  "))
	must.Succeed(t, os.WriteFile(file, []byte(manifest), 0o600))
	run := exec.CommandContext(t.Context(), "kubectl-loadtest", "run", "--local", "-f", file, "-o", "yaml",
		"--service", "ratelimiter="+strings.TrimPrefix(s.URL, "http://"))
	run.Stderr = os.Stderr
	out, err := run.Output() // its exit code is that of the verdict
	lt := &v1beta1.LoadTest{}
	if problem := yaml.UnmarshalStrict(out, lt); problem != nil || lt.Status.Verdict == "" {
		t.Fatalf("%s: the local run left no result: %v, %v", name, err, problem)
	}
	return lt, asked.Load()
}

// step is what of a step does not depend on where it ran, nor on how busy the machine was: that
// all was sent that was due is a threshold of the spec.
type step struct {
	Name      string
	State     v1beta1.StepState
	Load      v1beta1.StepLoad
	Limit     time.Duration
	Due       int64
	Reporting int32
}

type planned struct {
	Workers    int32
	Requests   []v1beta1.RequestStatus
	Thresholds []string
	Steps      []step
}

func planOf(lt *v1beta1.LoadTest) planned {
	p := planned{Workers: lt.Status.Workers.Desired, Requests: lt.Status.Requests}
	for _, t := range lt.Status.Thresholds {
		p.Thresholds = append(p.Thresholds, t.Name+" "+string(t.Metric))
	}
	for _, s := range lt.Status.Steps {
		x := step{Name: s.Name, State: s.State, Load: s.Load, Reporting: s.WorkersReporting}
		if s.TimeLimit != nil {
			x.Limit = s.TimeLimit.Duration
		}
		if s.Result != nil {
			x.Due = s.Result.Due
		}
		p.Steps = append(p.Steps, x)
	}
	return p
}
