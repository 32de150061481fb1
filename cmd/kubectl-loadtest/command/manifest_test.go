package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestParse(t *testing.T) {
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
			list, err := parse("x.yaml", strings.NewReader(test.input), checkLoadTest)
			if test.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "-f x.yaml: "+test.wantErr) {
					t.Fatalf("parse() = %v, want an error that begins -f x.yaml: %s", err, test.wantErr)
				}
				return
			}
			must.Succeed(t, err)
			var got []string
			for _, object := range list {
				got = append(got, displayName(object))
			}
			same.As(t, "parse()", test.want, got)
		})
	}
}

func TestParseReadError(t *testing.T) {
	_, err := parse("x.yaml", iotest.ErrReader(errors.New("the disk is gone")), checkLoadTest)
	if err == nil || err.Error() != "-f x.yaml: the disk is gone" {
		t.Errorf("parse() = %v, want -f x.yaml: the disk is gone", err)
	}
}

// Files are read in the order in which they are given, and none is left out.
func TestReadManifestsInOrder(t *testing.T) {
	const head = "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: "
	file := filepath.Join(t.TempDir(), "b.yaml")
	must.Succeed(t, os.WriteFile(file, []byte(head+"{name: b}\n---\n"+head+"{name: a}\n"), 0o600))
	list, err := readManifests([]string{"-", file}, strings.NewReader(head+"{name: c}\n"))
	must.Succeed(t, err)
	var got []string
	for _, object := range list {
		got = append(got, object.GetName())
	}
	same.As(t, "readManifests()", []string{"c", "b", "a"}, got)
}

// The namespace is the manifest's, else that of the flag or context; a flag that
// says another one is a mistake, a context is not.
func TestPlace(t *testing.T) {
	tests := map[string]struct {
		named    string
		explicit bool
		want     string
		wantErr  string
	}{
		"of the context":             {want: "here"},
		"of the flag":                {explicit: true, want: "here"},
		"of the manifest":            {named: "there", want: "there"},
		"of both":                    {named: "here", explicit: true, want: "here"},
		"of both, which say another": {named: "there", explicit: true, wantErr: "LoadTest a: metadata.namespace is there, but --namespace is here; leave out one of them"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{}}
			object.SetName("a")
			object.SetNamespace(test.named)
			err := (&cluster{namespace: "here", explicit: test.explicit}).place(object)
			if test.wantErr != "" {
				if err == nil || err.Error() != test.wantErr {
					t.Errorf("place() = %v, want %s", err, test.wantErr)
				}
				return
			}
			if err != nil || object.GetNamespace() != test.want {
				t.Errorf("place() = %v, in namespace %s; want %s", err, object.GetNamespace(), test.want)
			}
		})
	}
}

func TestReadManifestsOfAnEmptyFile(t *testing.T) {
	_, err := readManifests([]string{"-"}, strings.NewReader("# nothing\n"))
	if err == nil || err.Error() != "-f -: holds no LoadTest" {
		t.Errorf("readManifests() = %v, want -f -: holds no LoadTest", err)
	}
}
