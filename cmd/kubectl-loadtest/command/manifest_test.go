package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	const head = "apiVersion: loadtest.dev/v1alpha1\nkind: LoadTest\n"
	tests := map[string]struct {
		input   string
		want    []string
		wantErr string
	}{
		"one":                 {input: head + "metadata: {name: a}\n", want: []string{"a"}},
		"in JSON":             {input: `{"apiVersion": "loadtest.dev/v1alpha1", "kind": "LoadTest", "metadata": {"name": "a"}}`, want: []string{"a"}},
		"several, some empty": {input: "---\n# first\n---\n" + head + "metadata: {name: a}\n---\n\n---\n" + head + "metadata: {generateName: b-}\n---\n", want: []string{"a", "b-*"}},
		"nothing":             {input: ""},
		"no name":             {input: head, wantErr: "document 1: metadata.name or metadata.generateName must be set"},
		"another kind":        {input: head + "metadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\n", wantErr: "document 2: is a ConfigMap of v1, not a LoadTest of loadtest.dev/v1alpha1; apply other objects with kubectl apply -f"},
		"another version":     {input: "apiVersion: loadtest.dev/v2\nkind: LoadTest\n", wantErr: "document 1: is a LoadTest of loadtest.dev/v2, not"},
		"no kind":             {input: "a: 1\n", wantErr: "document 1: is no Kubernetes object"},
		"no object":           {input: "- a\n", wantErr: "document 1: is no Kubernetes object"},
		"no YAML":             {input: "a: [\n", wantErr: "document 1: "},
		"a field given twice": {input: head + "metadata: {name: a}\nkind: LoadTest\n", wantErr: `document 1: `},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := parse("x.yaml", strings.NewReader(test.input))
			if test.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "-f x.yaml: "+test.wantErr) {
					t.Fatalf("parse() = %v, want an error that begins -f x.yaml: %s", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, object := range list {
				got = append(got, displayName(object))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parse() (-want +got):\n%s", diff)
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
