package command

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
