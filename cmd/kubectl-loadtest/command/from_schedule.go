package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/history"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
)

// scheduleKind is what --from leads to, and scheduleNames are how it may be called.
var (
	scheduleKind  = v1beta1.GroupVersion.WithKind("LoadTestSchedule")
	scheduleNames = []string{"schedule", "loadtestschedule", "loadtestschedules", "loadtestschedule.loadtest.dev", "ldts"}
)

// check says what is wrong with where the LoadTests come from.
func (o *runOptions) check(flags *pflag.FlagSet) error {
	switch {
	case o.from == "" && o.name != "":
		return errors.New("--name needs --from: a LoadTest from a file has the name given there")
	case o.from == "":
		return nil
	}
	for _, other := range []string{"filename", "local", "replace", "resume"} {
		if flags.Changed(other) {
			return fmt.Errorf("--%s has no meaning with --from, which creates a LoadTest of a schedule's template in the cluster", other)
		}
	}
	_, err := scheduleOf(o.from)
	return err
}

// scheduleOf is the name of a schedule in schedule/NAME.
func scheduleOf(from string) (string, error) {
	kind, name, ok := strings.Cut(from, "/")
	if !ok || name == "" || !slices.Contains(scheduleNames, kind) {
		return "", fmt.Errorf("--from must be schedule/NAME, not %q", from)
	}
	return name, nil
}

// runFrom runs what a schedule starts, now.
func (c *config) runFrom(ctx context.Context, o *runOptions, live *live) error {
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	lt, err := cluster.start(ctx, o)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(c.streams.Err, "LoadTest %s/%s runs the template of %s\n", lt.Namespace, lt.Name, o.from)
	if err := live.follow(cluster, lt); err != nil {
		return err
	}
	return c.followToExit(ctx, cluster, lt)
}

// start creates the LoadTest that a schedule would create, under a name that no start of its
// own has. The schedule controls it: it counts as one of its runs.
func (c *cluster) start(ctx context.Context, o *runOptions) (*v1beta1.LoadTest, error) {
	name, err := scheduleOf(o.from)
	if err != nil {
		return nil, err
	}
	s := &v1beta1.LoadTestSchedule{}
	key := client.ObjectKey{Namespace: c.namespace, Name: name}
	if err := c.Get(ctx, key, s); err != nil {
		return nil, fmt.Errorf("get LoadTestSchedule %s: %w", key, err)
	}
	if s.Spec.ConcurrencyPolicy != v1beta1.AllowConcurrent {
		active, err := c.unfinished(ctx, s)
		if err != nil {
			return nil, err
		}
		if active != "" {
			return nil, fmt.Errorf("LoadTest %s of schedule %s has not finished, and its concurrencyPolicy is %s: two runs at once would disturb each other; follow it with %s",
				active, key, s.Spec.ConcurrencyPolicy, commandLine("watch", s.Namespace, active))
		}
	}
	earlier, err := c.earlier(ctx, s)
	if err != nil {
		return nil, err
	}
	lt := decision.Run(s, o.name, "kubectl loadtest run --from "+o.from, earlier)
	if o.name == "" {
		lt.GenerateName = s.Name + "-"
	}
	err = c.Create(ctx, lt, client.FieldOwner(fieldManager), client.FieldValidation(metav1.FieldValidationStrict))
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("--name: LoadTest %s/%s exists already; choose another name, or leave --name out", lt.Namespace, lt.Name)
	case err != nil:
		return nil, fmt.Errorf("create a LoadTest of schedule %s: %w", key, err)
	}
	return lt, nil
}

// unfinished is a LoadTest of a schedule that has not finished; empty: there is none. The status
// of the schedule lacks what was created a moment ago.
func (c *cluster) unfinished(ctx context.Context, s *v1beta1.LoadTestSchedule) (name string, err error) {
	if len(s.Status.Active) > 0 {
		return s.Status.Active[0], nil
	}
	err = c.eachLoadTest(ctx, decision.LabelSchedule+"="+s.Name, func(lt *v1beta1.LoadTest) {
		if metav1.IsControlledBy(lt, s) && !progress.Finished(lt) {
			name = lt.Name
		}
	})
	return name, err
}

// earlier is what the next LoadTest of a schedule may be compared with.
func (c *cluster) earlier(ctx context.Context, s *v1beta1.LoadTestSchedule) (found decision.Earlier, err error) {
	if decision.NeedsLevel(s) {
		reader := history.Reader{Cached: c, Uncached: c, Page: page}
		found.Level, err = reader.Level(ctx, s.Namespace, s.Name, &s.Spec.Template.Spec)
		return found, err
	}
	found.Passed, err = c.lastPassed(ctx, s)
	return found, err
}

// lastPassed is the LoadTest with which the next of a schedule is compared; nil: there is
// none.
func (c *cluster) lastPassed(ctx context.Context, s *v1beta1.LoadTestSchedule) (*v1beta1.LoadTest, error) {
	last := s.Status.LastPassed
	if last == nil || !decision.NeedsBaseline(&s.Spec.Template.Spec) {
		return nil, nil
	}
	lt, err := c.get(ctx, last.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !decision.IsBaseline(s, lt):
		return nil, nil
	}
	return lt, nil
}

// completeFrom completes schedule/NAME.
func (c *config) completeFrom(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	found := c.namesOf(cmd.Context(), scheduleKind, true)
	for i := range found {
		found[i] = "schedule/" + found[i]
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
