package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy/deploytest"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/recordtest"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// fixture is a run whose kubectl, helm and git note their calls, and answer as those of
// a cluster on which all goes well.
type fixture struct {
	*deploytest.Programs
	t      *testing.T
	runner *runner
	out    bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{Programs: deploytest.New(t, "kubectl", "helm", "git"), t: t}
	t.Setenv("CLUSTER", "local")
	t.Chdir("../..")
	runner, err := newRunner(record.Store(filepath.Join(t.TempDir(), "seeds")), manifest.TwoCores)
	must.Succeed(t, err)
	s.runner = runner
	s.runner.Tools = deploy.Tools{Out: &s.out, Err: &s.out}
	s.runner.quiet = deploy.Tools{Out: deploy.Discard{}, Err: &s.out}
	s.Stub("helm status", "exit 1")
	s.Returns("kubectl get deployments", map[string]any{"items": []any{}})
	s.Returns("kubectl version", map[string]any{"serverVersion": map[string]any{"gitVersion": "v1.35.0"}})
	s.Stub("kubectl get nodes", "echo node/a")
	s.Stub("git describe", "echo 0123456789ab")
	s.Returns("kubectl get configmaps", map[string]any{"items": []any{map[string]any{"kind": "ConfigMap", "apiVersion": "v1"}}})
	return s
}

// has an experiment of two load tests, which end as those of recordtest.
func (s *fixture) has(name string) experiment.Experiment {
	s.t.Helper()
	done := recordtest.All()[name]
	var documents [][]byte
	for i := range done.LoadTests {
		lt := &done.LoadTests[i]
		s.Returns("kubectl get loadtest "+lt.Name, lt)
		text, err := applied(&v1beta1.LoadTest{TypeMeta: lt.TypeMeta, ObjectMeta: lt.ObjectMeta})
		must.Succeed(s.t, err)
		documents = append(documents, text)
	}
	documents = append(documents, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: needed}\n"))
	// A name may be the beginning of another.
	s.Stub("kubectl kustomize config/samples/seeds/"+name,
		"case \"$call\" in */"+name+") cat <<'END'\n"+string(manifest.Text(documents...))+"END\n;; esac")
	for _, e := range experiment.All() {
		if e.Name == name {
			return e
		}
	}
	s.t.Fatalf("there is no experiment %s", name)
	return experiment.Experiment{}
}

// TestAnExperimentRunsOnceAndLeavesItsResult compares all that a run does on a fresh cluster with what a person
// reviewed, and runs nothing the second time.
func TestAnExperimentRunsOnceAndLeavesItsResult(t *testing.T) {
	fresh, err := filepath.Abs("testdata/fresh.txt")
	must.Succeed(t, err)
	s := newFixture(t)
	chosen := []experiment.Experiment{s.has("000-v1"), s.has("001-1-worker")}
	s.Stub("kubectl loadtest run --namespace seed-001-1-worker", "exit 1") // Failed is a result
	if err := s.runner.all(t.Context(), chosen, false); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	got := s.Calls()
	golden.Check(t, fresh, got)
	all, err := s.runner.store.All()
	if err != nil || len(all) != 2 || len(all["000-v1"].LoadTests) != 2 || len(all["000-v1"].Results) != 1 || all["000-v1"].Environment.Commit != "0123456789ab" {
		t.Errorf("the results are %+v (%v)", all, err)
	}
	must.Succeed(t, s.runner.all(t.Context(), chosen, false))
	if again := strings.TrimPrefix(s.Calls(), got); strings.Contains(again, "helm") || strings.Contains(again, "run") {
		t.Errorf("an experiment that has a result ran again:\n%s", again)
	}
}

// What is another experiment than the one that has a result runs.
func TestAnotherFactorRunsAgain(t *testing.T) {
	s := newFixture(t)
	chosen := []experiment.Experiment{s.has("004-hash")}
	must.Succeed(t, s.runner.all(t.Context(), chosen, false))
	for name, want := range map[string]int{"the same": 0, "another factor": 1} {
		if name == "another factor" {
			s.runner.factor.Time++
		}
		jobs, err := s.runner.jobs(t.Context(), chosen)
		if err != nil || len(jobs) != want {
			t.Errorf("%s: %d experiments have to run (%v), want %d", name, len(jobs), err, want)
		}
		s.runner.factor = manifest.TwoCores
	}
}

// A result of load tests that have changed since is neither judged nor documented.
func TestCurrentLeavesOutWhatHasChanged(t *testing.T) {
	s := newFixture(t)
	for _, e := range experiment.All() {
		s.has(e.Name)
	}
	must.Succeed(t, s.runner.all(t.Context(), []experiment.Experiment{s.has("004-hash"), s.has("004-lua")}, false))
	if all, err := s.runner.current(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("current() = %v, %v, want two results", all, err)
	}
	s.Edit("kubectl kustomize config/samples/seeds/004-lua", "spec:", "spec:\n  repetitions: 7")
	if all, err := s.runner.current(t.Context()); err != nil || len(all) != 1 || all["004-hash"] == nil {
		t.Errorf("current() = %v, %v, want the result of 004-hash alone", all, err)
	}
}

// A run that does not end as a run does leaves no result and no target, and those that
// follow run.
func TestFailuresLeaveNoResult(t *testing.T) {
	broken := recordtest.All()["004-hash"].LoadTests[0]
	broken.Status.Phase, broken.Status.Verdict = v1beta1.PhaseFinished, v1beta1.VerdictError
	tests := map[string]struct {
		fault func(*fixture)
		want  string
	}{
		"no target": {func(s *fixture) {
			s.Stub("helm upgrade --install target charts/targets --namespace seed-004-hash", "exit 1")
		}, "004-hash: helm upgrade --install: exit status 1"},
		"no verdict": {func(s *fixture) { s.Stub("kubectl loadtest run --namespace seed-004-hash", "exit 4") }, "004-hash: kubectl loadtest run: exit status 4"},
		"the verdict Error": {func(s *fixture) {
			s.Returns("kubectl get loadtest single-client-burst", broken)
		}, `004-hash: single-client-burst did not go to its end: it is Finished with the verdict "Error"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			chosen := []experiment.Experiment{s.has("004-hash"), s.has("002-v01")}
			s.Returns("kubectl get pods", map[string]any{"items": []any{}})
			test.fault(s)
			must.Say(t, s.runner.all(t.Context(), chosen, false), test.want)
			all, err := s.runner.store.All()
			if err != nil || all["004-hash"] != nil || all["002-v01"] == nil {
				t.Errorf("the results are %v (%v), want that of 002-v01 alone", all, err)
			}
			if n := strings.Count(s.Calls(), "kubectl delete namespace seed-004-hash"); n != 2 {
				t.Errorf("the namespace was removed %d times, want before and after:\n%s", n, s.Calls())
			}
		})
	}
}

// An interrupted run removes its target, keeps the results that are there, and goes on
// with no other experiment.
func TestAnInterruptedExperimentIsTakenDown(t *testing.T) {
	s := newFixture(t)
	chosen := []experiment.Experiment{s.has("004-lua"), s.has("004-hash"), s.has("002-v01")}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	s.Stub("kubectl loadtest run --namespace seed-004-hash", `kill -INT $PPID; sleep 1; exit 4`)
	ready := make(chan os.Signal, 1)
	notify(t, ready, interrupt)
	if err := s.runner.all(ctx, chosen, false); err == nil || !deploy.Interrupted(ctx) {
		t.Fatalf("all() = %v, want that it was interrupted", err)
	}
	all, err := s.runner.store.All()
	if err != nil || all["004-lua"] == nil || len(all) != 1 {
		t.Errorf("the results are %v (%v), want that of 004-lua alone", all, err)
	}
	if calls := s.Calls(); !strings.HasSuffix(calls, "kubectl delete namespace seed-004-hash --ignore-not-found --wait=false\n") {
		t.Errorf("the target is left:\n%s", calls)
	}
}

// The target of a run is limited as its load is, and the result says by how much; a rate
// limiter, whose load tests are not scaled, is not.
func TestTargetsAreLimitedAsTheirLoadIs(t *testing.T) {
	for name, want := range map[string][]string{
		"000-v3":  {"postgres.maxConnections=10", "shortener.poolSize=100", "pgbouncer.poolSize=5"},
		"004-lua": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			must.Succeed(t, s.runner.all(t.Context(), []experiment.Experiment{s.has(name)}, false))
			_, install, _ := strings.Cut(s.Calls(), "helm upgrade --install target")
			install, _, _ = strings.Cut(install, "\n")
			for _, set := range want {
				if !strings.Contains(install, " --set "+set+" ") {
					t.Errorf("it is installed without %s: %s", set, install)
				}
			}
			r, err := s.runner.store.Read(name)
			must.Succeed(t, err)
			if limits := r.Factor.Limits; strings.Count(install, " --set ") != len(want) || (limits == "") != (want == nil) {
				t.Errorf("it is installed with%s, and its result names %q", install, limits)
			}
		})
	}
}

func TestRepetitionsAreBounded(t *testing.T) {
	for n, want := range map[int]string{0: "-repetitions is 0: use 1 to 10", 1: "", 10: "", 11: "-repetitions is 11: use 1 to 10"} {
		factor, err := repeated(n)
		if got := fmt.Sprint(err); err == nil && (want != "" || factor.Repetitions != int32(n)) || err != nil && got != want {
			t.Errorf("repeated(%d) = %v, %v, want %q", n, factor, err, want)
		}
	}
}

func TestPlanRunsNothing(t *testing.T) {
	s := newFixture(t)
	must.Succeed(t, s.runner.all(t.Context(), []experiment.Experiment{s.has("003-1gb")}, true))
	if calls := s.Calls(); strings.Contains(calls, "helm") || !strings.Contains(s.out.String(), "003-1gb") {
		t.Errorf("plan printed\n%s\nand called\n%s", s.out.String(), calls)
	}
}

// The plan of all experiments is as reviewed, their limits included, and takes less than 90
// minutes. go test ./hack/seeds -run Plan -update writes it anew.
func TestPlanOfAllIsAsReviewed(t *testing.T) {
	reviewed, err := filepath.Abs("testdata/plan.txt")
	must.Succeed(t, err)
	t.Setenv("CLUSTER", "local")
	t.Setenv("PATH", os.Getenv("KUBEBUILDER_ASSETS")+":"+os.Getenv("PATH"))
	t.Chdir("../..")
	r, err := newRunner(record.Store(t.TempDir()), manifest.TwoCores)
	must.Succeed(t, err)
	var out bytes.Buffer
	r.Tools = deploy.Tools{Out: &out, Err: &out}
	must.Succeed(t, r.all(t.Context(), experiment.All(), true))
	golden.Check(t, reviewed, out.String())
	jobs, err := r.jobs(t.Context(), experiment.All())
	must.Succeed(t, err)
	var total time.Duration
	for _, j := range jobs {
		total += j.length
	}
	if most := 90 * time.Minute; len(jobs) != len(experiment.All()) || total > most {
		t.Errorf("%d experiments take %s, want all in at most %s", len(jobs), total, most)
	}
}

func TestExperimentsAreChosenByName(t *testing.T) {
	for only, want := range map[string]int{"": 22, "004": 5, "004-lua": 1, "000-v3,003": 4, "000-v3-pool": 1} {
		if got, err := choose(only); err != nil || len(got) != want {
			t.Errorf("choose(%q) = %d experiments, %v, want %d", only, len(got), err, want)
		}
	}
	if _, err := choose("004,005"); err == nil || err.Error() != `-only: there is no seed or experiment "005"` {
		t.Errorf("choose(004,005): %v", err)
	}
}
