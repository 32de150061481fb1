package document

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestChecked(t *testing.T) {
	const head = "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\n"
	tests := map[string]struct {
		input   string
		want    []string
		wantErr string
	}{
		"one":                 {input: head + "metadata: {name: a}\n", want: []string{"a"}},
		"in JSON":             {input: `{"apiVersion": "loadtest.dev/v1beta1", "kind": "LoadTest", "metadata": {"name": "a"}}`, want: []string{"a"}},
		"several, some empty": {input: "---\n# first\n---\n" + head + "metadata: {name: a}\n---\n\n---\n" + head + "metadata: {generateName: b-}\n---\n", want: []string{"a", "b-*"}},
		"nothing":             {input: ""},
		"no name":             {input: head, wantErr: "document 1: metadata.name or metadata.generateName must be set"},
		"another kind":        {input: head + "metadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\n", wantErr: "document 2: is a ConfigMap of v1, not a LoadTest of loadtest.dev/v1beta1; apply other objects with kubectl apply -f"},
		"another version":     {input: "apiVersion: loadtest.dev/v2\nkind: LoadTest\n", wantErr: "document 1: is a LoadTest of loadtest.dev/v2, not"},
		"no kind":             {input: "a: 1\n", wantErr: "document 1: is not a Kubernetes object"},
		"no object":           {input: "- a\n", wantErr: "document 1: is not a Kubernetes object"},
		"no YAML":             {input: "a: [\n", wantErr: "document 1: yaml: line 1: did not find expected node content"},
		"a field given twice": {input: head + "metadata: {name: a}\nkind: LoadTest\n", wantErr: `document 1: yaml: unmarshal errors:`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := Checked("x.yaml", strings.NewReader(test.input), CheckLoadTest)
			if test.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "-f x.yaml: "+test.wantErr) {
					t.Fatalf("Checked() = %v, want an error that begins -f x.yaml: %s", err, test.wantErr)
				}
				return
			}
			must.Succeed(t, err)
			var got []string
			for _, object := range list {
				got = append(got, DisplayName(object))
			}
			same.As(t, "Checked()", test.want, got)
		})
	}
}

func TestCheckedReadError(t *testing.T) {
	_, err := Checked("x.yaml", iotest.ErrReader(errors.New("the disk is gone")), CheckLoadTest)
	if err == nil || err.Error() != "-f x.yaml: the disk is gone" {
		t.Errorf("Checked() = %v, want -f x.yaml: the disk is gone", err)
	}
}

// Files are read in the order in which they are given, and none is left out.
func TestLoadTestsInOrder(t *testing.T) {
	const head = "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: "
	file := filepath.Join(t.TempDir(), "b.yaml")
	must.Succeed(t, os.WriteFile(file, []byte(head+"{name: b}\n---\n"+head+"{name: a}\n"), 0o600))
	list, err := LoadTests([]string{"-", file}, strings.NewReader(head+"{name: c}\n"))
	must.Succeed(t, err)
	var got []string
	for _, object := range list {
		got = append(got, object.GetName())
	}
	same.As(t, "LoadTests()", []string{"c", "b", "a"}, got)
}

func TestLoadTestsOfAnEmptyFile(t *testing.T) {
	_, err := LoadTests([]string{"-"}, strings.NewReader("# nothing\n"))
	if err == nil || err.Error() != "-f -: holds no LoadTest" {
		t.Errorf("LoadTests() = %v, want -f -: holds no LoadTest", err)
	}
}
