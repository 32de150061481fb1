package command

import (
	"bytes"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestRerunCreatesWhatArgoCDsActionDoes reads the LoadTests with which Argo CD's engine tests
// the action: the first of each file, and what becomes of it.
func TestRerunCreatesWhatArgoCDsActionDoes(t *testing.T) {
	files, err := filepath.Glob("../../../hack/components/argocd/testdata/rerun/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		content := must.ReadFile(t, file)
		var both [2]v1beta1.LoadTest
		for i, text := range bytes.SplitN(content, []byte("\n---\n"), 2) {
			must.Succeed(t, yaml.UnmarshalStrict(text, &both[i]))
		}
		got := copyOf(&both[0], "")
		got.TypeMeta = both[1].TypeMeta
		same.As(t, file+": rerun creates", &both[1], got)
	}
}
