package host

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestOnlyRootOnLinuxIsServed(t *testing.T) {
	for name, test := range map[string]struct {
		system string
		user   int
		want   string
	}{
		"root on Linux":     {"linux", 0, ""},
		"a user on Linux":   {"linux", 1000, "needs root"},
		"root on a Mac":     {"darwin", 0, "CLUSTER=kind"},
		"a user on Windows": {"windows", -1, "not on windows"},
	} {
		t.Run(name, func(t *testing.T) {
			err := privileged(test.system, test.user)
			if test.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error is %v, want it to say %q", err, test.want)
			}
		})
	}
}

func TestMissingNamesProgramsAndPackages(t *testing.T) {
	lacking := func(programs ...string) func(string) (string, error) {
		return func(program string) (string, error) {
			if slices.Contains(programs, program) {
				return "", errors.New("not found")
			}
			return "/bin/" + program, nil
		}
	}
	must.Report(t, "nothing is missing, got", missing(lacking()))
	err := missing(lacking("ctr", "containerd", "ip", "/usr/lib/cni/bridge"))
	var got MissingError
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a MissingError", err)
	}
	want := MissingError{
		Programs: []string{"containerd", "ctr", "/usr/lib/cni/bridge", "ip"},
		Packages: []string{"containerd", "containernetworking-plugins", "iproute2"},
	}
	same.As(t, "missing", want, got)
	for _, text := range []string{
		"apt-get install --no-install-recommends containerd containernetworking-plugins iproute2", "ctr", "--install",
	} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}
