package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
)

// fieldManager is the name under which fields are owned.
const fieldManager = "kubectl-loadtest"

// localHelp is the part of the help that is about --local.
const localHelp = `With --local nothing is created: the LoadTests run on this machine, without a
cluster. Plan, measurement, audits, verdict and report are the same as in a cluster;
each worker is a process in place of a pod. spec.target.url may be a loopback
address. spec.target.service needs --service, which says where the Service
listens, or --serve. ConfigMaps and Secrets come from the same file, or from the
folder of --with. The rest of spec.worker beside driver, and
spec.ttlSecondsAfterFinished, have no effect.
The first Ctrl-C ends the run and keeps its measurements (Canceled); the second ends it
at once.`

const runExamples = `  # In the cluster of the current context
  kubectl loadtest run -f burst.yaml
  kubectl kustomize tests | kubectl loadtest run --replace -f - --timeout 30m
  kubectl loadtest run --resume -f held.yaml
  kubectl loadtest run --from schedule/nightly -n shop

  # With a page in the browser that follows it
  kubectl loadtest run --ui -f burst.yaml

  # On this machine, against what spec.target.url names
  kubectl loadtest run --local -f checkout.yaml

  # The manifest of a cluster, whose target is Service shortener, against a local port
  kubectl loadtest run --local -f hello.yaml --service shortener=127.0.0.1:8080

  # With the Secret that a header comes from, and the result for a program
  kubectl loadtest run --local -f checkout.yaml --with testdata/secrets -o json

  # Against a reference system inside this process
  kubectl loadtest run --local -f hello.yaml --serve shortener`

// runOptions are the flags of a run in a cluster.
type runOptions struct {
	files           []string
	from, name      string
	replace, resume bool
	timeout         time.Duration
	ui              liveOptions
}

func (c *config) run() *cobra.Command {
	var o runOptions
	var local localOptions
	command := &cobra.Command{
		Use:   "run -f FILE | run --from schedule/NAME",
		Short: "Run LoadTests, follow them to their end and print their reports",
		Long: "Create the LoadTests of a file, follow each to its end and print its report.\n" +
			"Several LoadTests run one after another. ConfigMaps and Secrets of the files are\n" +
			"applied first; objects of other kinds are listed and not applied.\n\n" +
			"A LoadTest with spec.suspend is held; --resume starts it.\n\n" +
			"--from schedule/NAME creates the LoadTest that the schedule would start, even if the schedule\n" +
			"is suspended: with its template, labels and baseline. It counts as one of its runs.\n\n" + localHelp + "\n\n" + exitcode.Help,
		Example: runExamples,
		Args:    onlyFiles,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.check(cmd.Flags()), local.check(cmd.Flags()), o.ui.check(cmd.Flags())); err != nil {
				return err
			}
			ctx, cancel := within(cmd.Context(), o.timeout)
			defer cancel()
			return c.withLive(cmd.Context(), &o.ui, func(live *live) error {
				switch {
				case o.from != "":
					return c.runFrom(ctx, &o, live)
				case local.enabled:
					return c.runLocal(ctx, o.files, &local, live)
				}
				return c.runAll(ctx, &o, live)
			})
		},
	}
	flags := command.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "File with LoadTests, - for the standard input; may be given several times")
	local.bind(flags)
	o.ui.bind(flags)
	flags.BoolVar(&o.replace, "replace", false, "Delete a finished LoadTest of the same name first, with its Job and its result")
	flags.BoolVar(&o.resume, "resume", false, "Start a LoadTest that spec.suspend holds: one from the file, or the one of the same name and spec in the cluster")
	flags.StringVar(&o.from, "from", "", "schedule/NAME: the LoadTestSchedule whose template is run")
	flags.StringVar(&o.name, "name", "", "Name of the LoadTest of --from; default: the schedule's with five random letters")
	bindTimeout(flags, &o.timeout)
	command.MarkFlagsOneRequired("filename", "from")
	return command
}

func (c *config) runAll(ctx context.Context, o *runOptions, live *live) error {
	bundle, err := readBundle(o.files, c.streams.In)
	if err != nil {
		return err
	}
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	for _, object := range slices.Concat(bundle.tests, bundle.data) {
		if err := cluster.place(object); err != nil {
			return err
		}
	}
	bundle.leaveAside(c.streams.Err)
	if err := cluster.applyData(ctx, bundle); err != nil {
		return err
	}
	worst := exitcode.Passed
	for i, manifest := range bundle.tests {
		if i > 0 {
			_, _ = fmt.Fprintln(c.streams.Out)
		}
		lt, err := c.begin(ctx, cluster, manifest, o)
		if err != nil {
			return err
		}
		if err := live.follow(cluster, lt); err != nil {
			return err
		}
		code, err := c.followAndReport(ctx, cluster, lt)
		if err != nil {
			return err
		}
		worst = max(worst, code)
	}
	return exitcode.Result(worst)
}

// begin creates a LoadTest, or resumes the one that is there.
func (c *config) begin(ctx context.Context, cluster *cluster, manifest document.Manifest, o *runOptions) (*v1beta1.LoadTest, error) {
	if !o.resume {
		return c.create(ctx, cluster, manifest, o.replace)
	}
	if manifest.GetName() != "" && !o.replace {
		lt, err := cluster.resumeSame(ctx, manifest)
		if lt != nil || err != nil {
			return lt, err
		}
	}
	started := manifest.DeepCopy()
	unstructured.RemoveNestedField(started.Object, "spec", "suspend")
	return c.create(ctx, cluster, started, o.replace)
}

// create creates the LoadTest. It is not applied: a LoadTest runs once, and to
// apply one that has run would show the old result as if it were new.
func (c *config) create(ctx context.Context, cluster *cluster, manifest *unstructured.Unstructured, replace bool) (*v1beta1.LoadTest, error) {
	if replace && manifest.GetName() != "" {
		if err := c.remove(ctx, cluster, client.ObjectKeyFromObject(manifest)); err != nil {
			return nil, err
		}
	}
	err := cluster.Create(ctx, manifest, client.FieldOwner(fieldManager), client.FieldValidation(metav1.FieldValidationStrict))
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("LoadTest %s/%s exists already: run it again with --replace, or see its result with %s", manifest.GetNamespace(), manifest.GetName(),
			commandLine("report", manifest.GetNamespace(), manifest.GetName()))
	case err != nil:
		return nil, fmt.Errorf("create LoadTest %s/%s: %w", manifest.GetNamespace(), document.DisplayName(manifest), err)
	}
	return &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{
		Namespace: manifest.GetNamespace(), Name: manifest.GetName(), UID: manifest.GetUID(),
	}}, nil
}

// remove deletes a finished LoadTest and waits until it is gone, and all that
// belongs to it with it: the next one has a Job of the same name.
func (c *config) remove(ctx context.Context, cluster *cluster, key client.ObjectKey) error {
	lt := &v1beta1.LoadTest{}
	err := cluster.Get(ctx, key, lt)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("get LoadTest %s: %w", key, err)
	case lt.DeletionTimestamp == nil && !progress.Finished(lt):
		return fmt.Errorf("--replace: LoadTest %s has not finished; follow it with %s, or end it with %s and try again",
			key, commandLine("watch", key.Namespace, key.Name), commandLine("cancel", key.Namespace, key.Name))
	}
	err = cluster.Delete(ctx, lt, client.Preconditions{UID: &lt.UID}, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete LoadTest %s: %w", key, err)
	}
	return c.awaitGone(ctx, cluster, lt)
}

// awaitGone waits until a LoadTest that is being deleted is gone. It outlives an API server that
// does not answer for a while, as follow does.
func (c *config) awaitGone(ctx context.Context, cluster *cluster, old *v1beta1.LoadTest) error {
	key, shown := client.ObjectKeyFromObject(old), c.display()
	defer shown.Clear()
	for {
		lt := &v1beta1.LoadTest{}
		err := cluster.Get(ctx, key, lt)
		switch {
		case apierrors.IsNotFound(err), err == nil && lt.UID != old.UID:
			return nil
		case err != nil && final(err):
			return fmt.Errorf("wait for LoadTest %s to be deleted: %w", key, err)
		}
		text, wait := fmt.Sprintf("%s/%s  the last run is being deleted", key.Namespace, key.Name), refresh
		if err != nil {
			text, wait = noAnswer(err.Error()), retry
		}
		shown.Show(time.Now(), func(int, int) []string { return []string{text} }, text)
		if err := pause(ctx, wait); err != nil {
			return errors.Join(fmt.Errorf("LoadTest %s is still being deleted", key), err)
		}
	}
}
