//go:build e2e

package ecosystem

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// fluxSource stands for source-controller, which cannot be built: it serves what is in the
// team's repository as an artifact, and writes the status of the GitRepository that names it.
type fluxSource struct {
	// address is the server's, on this machine.
	address string
	files   map[string]string
}

// put writes a file of examples into the repository, with replacements.
func (s *fluxSource) put(t *testing.T, path, example string, replace ...string) {
	t.Helper()
	s.files[path] = fluxExample(t, example, replace...)
}

// fluxExample is a file of examples, with replacements.
func fluxExample(t *testing.T, example string, replace ...string) string {
	t.Helper()
	content := must.ReadFile(t, filepath.Join("..", "..", "..", "examples", example))
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(content), replace[i]) {
			t.Fatalf("%s has no %q", example, replace[i])
		}
	}
	return strings.NewReplacer(replace...).Replace(string(content))
}

// push serves the repository as it is now, as a new revision.
func (s *fluxSource) push(t *testing.T) (revision string) {
	t.Helper()
	artifact := s.archive(t)
	sum := sha256.Sum256(artifact)
	digest := hex.EncodeToString(sum[:])
	name := digest[:12] + ".tar.gz"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+s.address+"/"+name, bytes.NewReader(artifact))
	must.Succeed(t, err)
	answer, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("put %s: %s", name, answer.Status)
	}
	revision = "main@sha1:" + digest[:40]
	now := time.Now().UTC().Format(time.RFC3339)
	repository := fluxObject("source.toolkit.fluxcd.io/v1", "GitRepository", "shop")
	status := map[string]any{
		"observedGeneration": int64(1),
		"artifact": map[string]any{
			"path": name, "url": "http://artifacts." + fluxNamespace + ".svc/" + name,
			"revision": revision, "digest": "sha256:" + digest, "size": int64(len(artifact)), "lastUpdateTime": now,
		},
		"conditions": []any{map[string]any{
			"type": "Ready", "status": string(metav1.ConditionTrue), "reason": "Succeeded", "lastTransitionTime": now,
			"message": "stored artifact for revision '" + revision + "'", "observedGeneration": int64(1),
		}},
	}
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKeyFromObject(repository), repository))
	repository.Object["status"] = status
	must.Succeed(t, cluster.API.Status().Update(t.Context(), repository))
	return revision
}

// archive is the repository as a tarball.
func (s *fluxSource) archive(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		content := []byte(s.files[path])
		must.Succeed(t, archive.WriteHeader(&tar.Header{Name: path, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}))
		if _, err := archive.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	must.Succeed(t, archive.Close())
	must.Succeed(t, compressed.Close())
	return out.Bytes()
}

// fluxObject is one of Flux's.
func fluxObject(version, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(fluxNamespace)
	o.SetName(name)
	return o
}

// fluxCondition is a condition of one, as reason and message.
func fluxCondition(o *unstructured.Unstructured, kind string) (status, said string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return fmt.Sprint(c["status"]), fmt.Sprintf("%v: %v", c["reason"], c["message"])
		}
	}
	return "", ""
}
