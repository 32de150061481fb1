package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	conflicts "k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
)

func (c *config) cancel() *cobra.Command {
	var wait bool
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "cancel NAME...",
		Short: "End LoadTests, and keep what they have measured",
		Long: "End LoadTests by spec.terminate. The workers stop within seconds, what was measured is\n" +
			"kept, and the verdict is Canceled. A finished LoadTest does not change.\n\n" +
			"Exit code: 0 when all of them end or have ended, else 4.",
		Example: "  kubectl loadtest cancel burst -n limiter\n" +
			"  kubectl loadtest cancel nightly weekly --wait --timeout 1m",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := within(cmd.Context(), timeout)
			defer cancel()
			cluster, err := c.connect()
			if err != nil {
				return err
			}
			var errs []error
			for _, name := range args {
				errs = append(errs, c.cancelOne(ctx, cluster, name, wait))
			}
			return errors.Join(errs...)
		},
	}
	command.Flags().BoolVar(&wait, "wait", false, "Wait until they have finished")
	bindTimeout(command.Flags(), &timeout)
	return command
}

func (c *config) cancelOne(ctx context.Context, cluster *cluster, name string, wait bool) error {
	lt, err := cluster.get(ctx, name)
	if err != nil {
		return err
	}
	already := progress.Finished(lt)
	if !already {
		if err := cluster.set(ctx, lt, "terminate", true); err != nil {
			return fmt.Errorf("end LoadTest %s/%s: %w", lt.Namespace, lt.Name, err)
		}
	}
	if wait && !progress.Finished(lt) {
		f := &follower{WithWatch: cluster.WithWatch, display: c.display(), latest: lt, retry: retry}
		if lt, err = f.follow(ctx); err != nil {
			return fmt.Errorf("wait for the end of LoadTest %s/%s: %w", cluster.namespace, name, err)
		}
	}
	said := "is ending"
	switch {
	case already:
		said = "has finished already: " + string(lt.Status.Verdict)
	case progress.Finished(lt): // it may have before it was told to end
		said = "has finished: " + string(lt.Status.Verdict)
	}
	_, err = fmt.Fprintf(c.streams.Out, "LoadTest %s/%s %s\n", lt.Namespace, lt.Name, said)
	return err
}

// set sets a field of the spec of this LoadTest, and of no other of its name: the error is then
// that this one is not found.
func (c *cluster) set(ctx context.Context, lt *v1beta1.LoadTest, field string, value bool) error {
	err := c.setIf(ctx, lt, "uid", string(lt.UID), field, value)
	if hasAnotherUID(err) {
		return apierrors.NewNotFound(v1beta1.GroupVersion.WithResource("loadtests").GroupResource(), lt.Name)
	}
	return err
}

// setIf sets a field of the spec of a LoadTest whose metadata has a value.
func (c *cluster) setIf(ctx context.Context, lt *v1beta1.LoadTest, key, has, field string, value bool) error {
	patch := fmt.Sprintf(`{"metadata":{%q:%q},"spec":{%q:%t}}`, key, has, field, value)
	return c.Patch(ctx, lt, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner(fieldManager))
}

// hasAnotherUID says whether a patch was refused for its UID: the object was deleted, and another of the same
// name was created.
func hasAnotherUID(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// resume starts a LoadTest that is held.
func (c *cluster) resume(ctx context.Context, name string) (*v1beta1.LoadTest, error) {
	lt, err := c.get(ctx, name)
	if err != nil {
		return nil, err
	}
	if !lt.Spec.Suspend || progress.Finished(lt) {
		return lt, nil
	}
	if err := c.set(ctx, lt, "suspend", false); err != nil {
		return nil, fmt.Errorf("resume LoadTest %s/%s: %w", lt.Namespace, lt.Name, err)
	}
	return lt, nil
}

// resumeSame starts the LoadTest of a manifest that is held in the cluster; nil: none of
// that name is there, or it is not held. It must be the one of the file: its result would
// be taken for that of another. If it was changed since it was compared, it is compared again.
func (c *cluster) resumeSame(ctx context.Context, m document.Manifest) (lt *v1beta1.LoadTest, err error) {
	err = conflicts.RetryOnConflict(conflicts.DefaultBackoff, func() error {
		lt, err = c.resumeUnchanged(ctx, m)
		return err
	})
	return lt, err
}

// resumeUnchanged is one attempt of resumeSame.
func (c *cluster) resumeUnchanged(ctx context.Context, m document.Manifest) (*v1beta1.LoadTest, error) {
	lt := &v1beta1.LoadTest{}
	key := client.ObjectKeyFromObject(m)
	switch err := c.Get(ctx, key, lt); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest %s: %w", key, err)
	case !lt.Spec.Suspend || progress.Finished(lt):
		return nil, nil
	}
	rules, err := admission.OfLoadTests()
	if err != nil {
		return nil, err
	}
	given, err := rules.Admit(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("LoadTest %s: %w", key, err)
	}
	given.Spec.Suspend = true
	if !equality.Semantic.DeepEqual(given.Spec, lt.Spec) {
		return nil, fmt.Errorf("--resume: LoadTest %s, which is held in the cluster, has another spec than the file: start it unchanged with %s --resume, or apply the file first with kubectl apply -f",
			key, commandLine("watch", key.Namespace, key.Name))
	}
	if err := c.setIf(ctx, lt, "resourceVersion", lt.ResourceVersion, "suspend", false); err != nil {
		return nil, fmt.Errorf("resume LoadTest %s: %w", key, err)
	}
	return lt, nil
}
