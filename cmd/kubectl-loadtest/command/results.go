package command

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// configMaps finds a ConfigMap of the LoadTest's namespace by its name.
type configMaps func(name string) (*corev1.ConfigMap, error)

func (c *cluster) resultsOf(ctx context.Context, lt *v1beta1.LoadTest) configMaps {
	return func(name string) (*corev1.ConfigMap, error) {
		results := &corev1.ConfigMap{}
		return results, c.Get(ctx, client.ObjectKey{Namespace: lt.Namespace, Name: name}, results)
	}
}

// archived are the results of steps beyond their summary.
type archived struct {
	steps []*archive.Step
	// changed names the ConfigMaps that are not as the operator stored them; nil: none.
	changed error
	// loads are the LoadTests of its loads, as far as they can be read. The steps are theirs, too.
	loads []*v1beta1.LoadTest
}

// errChanged is that a ConfigMap is not the one that the operator stored.
var errChanged = errors.New("it was changed after the run: its step.json.gz does not have the sha256 of status.resultRefs")

// archived are the results of the steps that status.resultRefs names, in a LoadTest and in the LoadTests of
// its loads.
func (c *config) archived(find configMaps, lt *v1beta1.LoadTest, loads []*v1beta1.LoadTest) archived {
	all := archived{loads: loads}
	c.addSteps(&all, lt, find)
	for _, one := range loads {
		c.addSteps(&all, one, find)
	}
	return all
}

// addSteps adds the results of the steps of a LoadTest. What cannot be read is said on the standard error,
// and left out.
func (c *config) addSteps(all *archived, lt *v1beta1.LoadTest, find configMaps) {
	for _, ref := range lt.Status.ResultRefs {
		if ref.ConfigMap == "" {
			continue
		}
		step, err := unpack(lt, ref, find)
		switch {
		case errors.Is(err, errChanged):
			all.changed = errors.Join(all.changed, fmt.Errorf("step %s is left out: ConfigMap %s: %w", ref.Step, ref.ConfigMap, err))
		case err != nil:
			_, _ = fmt.Fprintf(c.streams.Err, "no plots over time of step %s: ConfigMap %s: %v\n", ref.Step, ref.ConfigMap, err)
		default:
			all.steps = append(all.steps, step)
		}
	}
}

func unpack(lt *v1beta1.LoadTest, ref v1beta1.ResultRef, find configMaps) (*archive.Step, error) {
	results, err := find(ref.ConfigMap)
	if err != nil {
		return nil, err
	}
	packed := results.BinaryData[archive.Key]
	if ref.SHA256 != "" && archive.Sum(packed) != ref.SHA256 {
		return nil, errChanged
	}
	step, err := archive.Decode(packed)
	switch {
	case err != nil:
		return nil, err
	case step.UID != string(lt.UID) || step.Name != ref.Step:
		return nil, errors.New("it has the results of another step")
	}
	return step, nil
}

// checkSaved refuses what is neither a LoadTest nor a ConfigMap.
func checkSaved(object *unstructured.Unstructured) error {
	if object.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("ConfigMap") {
		return nil
	}
	return document.CheckLoadTest(object)
}
