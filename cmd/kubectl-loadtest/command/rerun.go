package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
)

// AnnotationRerunOf names, on a LoadTest that rerun made, the one whose spec it has.
const AnnotationRerunOf = runs.AnnotationRerunOf

// trackers begin the labels by which other programs find what they have created. With
// them they would delete the new LoadTest, which they have not.
var trackers = []string{"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/"}

func (c *config) rerun() *cobra.Command {
	var name string
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "rerun NAME",
		Short: "Run a LoadTest once more under a new name, and follow it",
		Long: "Create a LoadTest with the spec and the labels of another, follow it to its end and\n" +
			"print its report. The first one stays, with its result. The new name is the old one\n" +
			"with five random letters, unless --name gives one; annotation " + AnnotationRerunOf + "\n" +
			"names the first. suspend and terminate are not copied.\n\n" + exitcode.Help,
		Example: "  kubectl loadtest rerun burst -n limiter\n" +
			"  kubectl loadtest rerun burst --name burst-after --timeout 10m\n" +
			"  kubectl loadtest compare burst burst-after",
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := within(cmd.Context(), timeout)
			defer cancel()
			cluster, err := c.connect()
			if err != nil {
				return err
			}
			lt, err := cluster.again(ctx, args[0], name)
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(c.streams.Err, "LoadTest %s/%s repeats %s\n", lt.Namespace, lt.Name, args[0])
			return c.followToExit(ctx, cluster, lt)
		},
	}
	command.Flags().StringVar(&name, "name", "", "Name of the new LoadTest; default: the old one's with five random letters")
	bindTimeout(command.Flags(), &timeout)
	return command
}

// again creates a LoadTest like the one of a name.
func (c *cluster) again(ctx context.Context, of, name string) (*v1beta1.LoadTest, error) {
	old, err := c.get(ctx, of)
	if err != nil {
		return nil, err
	}
	lt := copyOf(old, name)
	err = c.Create(ctx, lt, client.FieldOwner(fieldManager), client.FieldValidation(metav1.FieldValidationStrict))
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("--name: LoadTest %s/%s exists already; choose another name, or leave --name out", lt.Namespace, lt.Name)
	case err != nil:
		return nil, fmt.Errorf("create a LoadTest like %s/%s: %w", old.Namespace, old.Name, err)
	}
	return lt, nil
}

// copyOf is a LoadTest like another, which has not run. Without a name it is given one.
func copyOf(old *v1beta1.LoadTest, name string) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: *old.Spec.DeepCopy()}
	lt.Namespace, lt.Name = old.Namespace, name
	lt.Spec.Suspend, lt.Spec.Terminate = false, false
	lt.Annotations = map[string]string{AnnotationRerunOf: old.Name}
	lt.Labels = maps.Clone(old.Labels)
	maps.DeleteFunc(lt.Labels, func(key, _ string) bool { return hasAnyPrefix(key, trackers) })
	if name == "" {
		// Names do not grow from run to run.
		first := cmp.Or(old.GenerateName, old.Annotations[AnnotationRerunOf], old.Name)
		const longest, random = 52, len("-xxxxx")
		lt.GenerateName = strings.TrimRight(first[:min(len(first), longest-random)], "-") + "-"
	}
	return lt
}

func hasAnyPrefix(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}
