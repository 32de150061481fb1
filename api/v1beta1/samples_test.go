package v1beta1_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestSamplesAreAccepted gives every sample to the API server, as kubectl apply would.
func TestSamplesAreAccepted(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	samples := os.DirFS(filepath.Join("..", "..", "config", "samples"))
	var names []string
	err := fs.WalkDir(samples, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" || entry.Name() == "kustomization.yaml" {
			return err
		}
		text, err := fs.ReadFile(samples, path)
		if err != nil {
			return err
		}
		sample := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(text, &sample.Object); err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		sample.SetNamespace(namespace)
		must.Report(t, path, c.Create(t.Context(), sample, client.DryRunAll))
		names = append(names, sample.GetName())
		return nil
	})
	must.Succeed(t, err)
	slices.Sort(names)
	want := []string{
		"burst-then-steady", "calls", "calls-over-http", "event-batches",
		"events-append", "events-batch-10", "events-batch-100", "events-batch-1000", "events-batch-500", "events-optimal", "events-position", "events-range",
		"five-clients", "flask-users", "hello", "hello-again", "journey", "loads", "logged-in", "nightly", "replay", "search", "sessions", "sharded-reads", "sharded-sustained", "shop-and-identity", "shortener-ladder", "shortener-v4-or-v3", "single-client-burst", "soak", "streams",
		"tiny-bitly-reads", "tiny-bitly-writes",
		"try-ratelimiter", "try-shortener", "try-tokens", "websocket",
	}
	same.As(t, "samples", want, names)
}

// TestExperimentsAreAcceptedInBothSizes gives every experiment to the API server at its published size and at
// that of two cores.
func TestExperimentsAreAcceptedInBothSizes(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	for _, e := range experiment.All() {
		text, err := apiserver.Kustomize(t.Context(), filepath.Join("..", "..", "config", "samples", "seeds", e.Name))
		must.Succeed(t, err)
		m, err := manifest.Parse(text)
		must.Succeed(t, err)
		for i := range m.LoadTests {
			lt := &m.LoadTests[i]
			for size, object := range map[string]*v1beta1.LoadTest{"as published": lt, "scaled": manifest.Scale(lt, manifest.TwoCores)} {
				object.Namespace = namespace
				if err := c.Create(t.Context(), object.DeepCopy(), client.DryRunAll); err != nil {
					t.Errorf("%s, %s, %s: %v", e.Name, lt.Name, size, err)
				}
			}
		}
	}
}
