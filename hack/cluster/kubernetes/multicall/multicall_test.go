package multicall

import (
	"slices"
	"strings"
	"testing"
)

var mains = Mains{
	"etcd":    func() int { return 1 },
	"kubectl": func() int { return 2 },
	"kubelet": func() int { return 3 },
}

func TestProgramIsChosenByItsName(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		left []string
		code int
	}{
		"by the name of the program":       {[]string{"/bin/kubectl", "get", "pods"}, []string{"/bin/kubectl", "get", "pods"}, 2},
		"by the first argument":            {[]string{"/bin/kubernetes", "etcd", "--version"}, []string{"etcd", "--version"}, 1},
		"the program's name goes first":    {[]string{"kubectl", "etcd"}, []string{"kubectl", "etcd"}, 2},
		"the argument may be the last one": {[]string{"kubernetes", "kubelet"}, []string{"kubelet"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			left, run, err := mains.Choose(test.args)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(left, test.left) {
				t.Errorf("Choose(%q) leaves %q, want %q", test.args, left, test.left)
			}
			if code := run(); code != test.code {
				t.Errorf("Choose(%q) chose the main with exit code %d, want %d", test.args, code, test.code)
			}
		})
	}
}

func TestChooseNamesThemAllWhenItFindsNone(t *testing.T) {
	for name, args := range map[string][]string{
		"no arguments at all":  nil,
		"the program's own":    {"/bin/kubernetes"},
		"an unknown component": {"/bin/kubernetes", "kube-dns"},
		"a path as argument":   {"/bin/kubernetes", "/bin/etcd"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := mains.Choose(args)
			if err == nil || !strings.HasSuffix(err.Error(), ": etcd, kubectl, kubelet") {
				t.Errorf("error is %v, want it to name all in order", err)
			}
		})
	}
}
