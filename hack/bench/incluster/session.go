package incluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
)

// Namespace has the targets and, during a test, the tool.
const Namespace = "bench-peers"

const (
	installLimit = 4 * time.Minute
	// helmLimit is shorter: Helm then reports itself what was not ready.
	helmLimit = installLimit - 30*time.Second
	undoLimit = 3 * time.Minute
	// seeded is so many links that all of 000100 to 000999 are among them, in base 62.
	seeded = 40_000
)

// Options are of a session.
type Options struct {
	// Root is that of the repository, from which the process was started. Work is a folder for files.
	Root, Work string
	// Seconds is how long each test sends.
	Seconds int
	// Tools print what is going on.
	Tools deploy.Tools
}

// Report is what a session found.
type Report struct {
	Results []Result
	// Missing says which tool could not be had, and why.
	Missing []string
	// K6Operator is its version; empty if it is missing.
	K6Operator string
}

type session struct {
	deploy.Tools
	root, work string
	lookEvery  time.Duration // how often a run is looked at
	api        *proxy
	cpu        *processor
	report     Report
	undo       []func(context.Context) error
}

// Run installs the targets and the tools, carries out all tests by all tools, and removes what it
// installed. An interrupt removes it, too.
func Run(ctx context.Context, o Options) (report Report, err error) {
	if _, err := os.Stat(filepath.Join(deploy.OperatorChart, "Chart.yaml")); err != nil {
		return report, fmt.Errorf("%s is not here: run it from the root of the repository, by make bench-peers", deploy.OperatorChart)
	}
	if kind := os.Getenv("CLUSTER"); kind != "" && kind != "local" {
		return report, fmt.Errorf("CLUSTER=%s: processor times are read from the control groups of the local cluster, so that it must be local", kind)
	}
	s := &session{Tools: o.Tools, root: o.Root, work: o.Work, lookEvery: lookEvery, cpu: newProcessor(groups)}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if s.api, err = startProxy(background, o.Work); err != nil {
		return report, err
	}
	go s.cpu.watch(background)
	defer func() { err = errors.Join(err, s.restore(context.WithoutCancel(ctx))) }()
	list, err := s.install(ctx)
	if err != nil {
		return report, err
	}
	err = s.measure(ctx, list, Tests(o.Seconds))
	return s.report, err
}

// restore removes what was installed, the latest first.
func (s *session) restore(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, undoLimit, fmt.Errorf("not removed within %v", undoLimit))
	defer cancel()
	_, _ = fmt.Fprintln(s.Out, "removing what was installed")
	var errs []error
	for _, undo := range slices.Backward(s.undo) {
		errs = append(errs, undo(ctx))
	}
	return errors.Join(errs...)
}

// later runs a command of kubectl when all is over.
func (s *session) later(args ...string) {
	s.undo = append(s.undo, func(ctx context.Context) error { return s.Quiet(ctx, "kubectl", args...) })
}

// install installs the targets, and then the tools; those that cannot be had are left out.
func (s *session) install(ctx context.Context) (list []tool, err error) {
	// Of an earlier session that was killed.
	if err := s.Quiet(ctx, "kubectl", "delete", "namespace", Namespace, "--ignore-not-found"); err != nil {
		return nil, err
	}
	s.later("delete", "namespace", Namespace, "--ignore-not-found")
	for _, part := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"Install a shortener on one Postgres", s.installShortener},
		{"Install the operator", s.installOurs},
	} {
		if err := s.Phase(ctx, part.title, installLimit, part.do); err != nil {
			return nil, err
		}
	}
	list = []tool{tools[Ours]}
	switch err := s.Phase(ctx, "Install k6-operator", installLimit, s.installK6); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		s.report.Missing = append(s.report.Missing, fmt.Sprintf("k6-operator (%v)", err))
	default:
		list = append(list, tools[K6Operator])
	}
	return append(list, tools[Locust]), nil
}

func (s *session) installShortener(ctx context.Context) error {
	return s.Install(ctx, "targets", deploy.TargetsChart, Namespace, helmLimit,
		"--values", deploy.TargetsChart+"/values-local.yaml", "--set", "ratelimiter.enabled=false", "--set", "shortener.enabled=true",
		"--set", fmt.Sprintf("shortener.seed.rows=%d", seeded), "--wait-for-jobs")
}

// absent says whether there is no object of a name that the session would install.
func (s *session) absent(ctx context.Context, kind, name string) (bool, error) {
	found, err := s.Output(ctx, "kubectl", "get", kind, name, "--ignore-not-found", "--output=name")
	return len(found) == 0, err
}

// installOurs installs the operator, and leaves one that was there before, with its definitions:
// LoadTests would go with them.
func (s *session) installOurs(ctx context.Context) error {
	where, err := deploy.ClusterOf(func(string) string { return "" })
	if err != nil {
		return err
	}
	noDefinitions, err := s.absent(ctx, "crd", "loadtests.loadtest.dev")
	if err != nil {
		return err
	}
	if noDefinitions {
		s.later("delete", "--filename", deploy.OperatorChart+"/crds", "--ignore-not-found")
	}
	noOperator, err := s.absent(ctx, "namespace", deploy.OperatorNamespace)
	if err != nil {
		return err
	}
	if noOperator {
		s.later("delete", "namespace", deploy.OperatorNamespace, "--ignore-not-found")
		s.undo = append(s.undo, func(ctx context.Context) error {
			return s.Quiet(ctx, "helm", "uninstall", "loadtest-operator", "--namespace", deploy.OperatorNamespace, "--ignore-not-found", "--wait")
		})
	}
	return s.InstallOperator(ctx, where, helmLimit)
}

// installK6 installs k6-operator by its bundle, as its documentation does.
func (s *session) installK6(ctx context.Context) error {
	text, version, err := k6Bundle(ctx, s.root)
	if err != nil {
		return err
	}
	s.report.K6Operator = version
	file := filepath.Join(s.work, "bundle.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	none, err := s.absent(ctx, "namespace", k6Namespace)
	if err != nil {
		return err
	}
	if none {
		s.later("delete", "--filename", file, "--ignore-not-found")
	}
	// Its definition of a TestRun is too large for a client-side apply.
	if err := s.Quiet(ctx, "kubectl", "apply", "--server-side", "--filename", file); err != nil {
		return err
	}
	return s.Quiet(ctx, "kubectl", "rollout", "status", "deployment", "--namespace", k6Namespace, "--timeout", helmLimit.String())
}

// measure carries out each test by all tools, one after the other.
func (s *session) measure(ctx context.Context, list []tool, tests []Test) error {
	begin, done, all := time.Now(), 0, len(list)*len(tests)
	for i, test := range tests {
		// Another tool begins each time: what it finds may depend on what ran before.
		for n := range list {
			with := list[(i+n)%len(list)]
			_, _ = fmt.Fprintf(s.Out, "%2d of %d: %s, %s, %d/s for %d s%s\n", done+1, all, with.name, test.Name, test.Rate, test.Seconds, left(time.Since(begin), done, all))
			result, err := s.carryOut(ctx, with, test)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", with.name, test.Name, err)
			}
			s.report.Results = append(s.report.Results, result)
			done++
		}
	}
	return nil
}

// left says how long the rest takes, when a part of all took so long; empty before there is one.
func left(took time.Duration, done, all int) string {
	if done == 0 {
		return ""
	}
	rest := took / time.Duration(done) * time.Duration(all-done)
	return fmt.Sprintf("; about %v left", rest.Round(10*time.Second))
}
