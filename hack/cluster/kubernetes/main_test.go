package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDispatchChoosesTheComponent(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"by the name of the program":       {[]string{"/bin/kubectl", "get", "pods"}, []string{"/bin/kubectl", "get", "pods"}},
		"by the first argument":            {[]string{"/bin/kubernetes", "etcd", "--version"}, []string{"etcd", "--version"}},
		"the program's name goes first":    {[]string{"kubectl", "etcd"}, []string{"kubectl", "etcd"}},
		"the argument may be the last one": {[]string{"kubernetes", "kubelet"}, []string{"kubelet"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, run, err := dispatch(test.args)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("dispatch(%q) = %q, want %q", test.args, got, test.want)
			}
			if run == nil {
				t.Error("dispatch chose no component")
			}
		})
	}
}

func TestDispatchNamesTheComponentsWhenNoneIsChosen(t *testing.T) {
	for name, args := range map[string][]string{
		"no arguments at all":  nil,
		"the program's own":    {"/bin/kubernetes"},
		"an unknown component": {"/bin/kubernetes", "kube-dns"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := dispatch(args)
			if err == nil {
				t.Fatal("dispatch chose a component")
			}
			for _, want := range names() {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %q", err, want)
				}
			}
		})
	}
}
