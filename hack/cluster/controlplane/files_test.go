package controlplane

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/golden"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

var cluster = layout.New("/state")

func TestEveryComponentHasItsCommandLine(t *testing.T) {
	all := arguments(cluster)
	same.As(t, "components with a command line", slices.Sorted(slices.Values(Components)), slices.Sorted(maps.Keys(all)))
	for name, args := range all {
		golden.Check(t, name+".args", []byte(strings.Join(args, "\n")+"\n"))
	}
}

func TestConfigurationIsAsReviewed(t *testing.T) {
	contents, err := files(cluster, "search example.org\nnameserver 10.0.0.53\nnameserver fe80::1%eth0\n")
	must.Succeed(t, err)
	for name, content := range contents {
		golden.Check(t, name, content)
	}
	golden.Check(t, "objects.yaml", []byte(objects()))
}

func TestCorefileWithoutNameServersForwardsNothing(t *testing.T) {
	if text := corefileOf(cluster, nil); strings.Contains(text, "forward") {
		t.Errorf("CoreDNS refuses to start with a forward without a server:\n%s", text)
	}
}

func TestNameServersAreReadFromResolvConf(t *testing.T) {
	for name, test := range map[string]struct {
		resolvConf string
		want       []string
	}{
		"one":                     {"nameserver 10.0.0.53\n", []string{"10.0.0.53"}},
		"several and other lines": {"# c\nsearch a b\nnameserver 1.1.1.1\noptions x\nnameserver 2001:db8::1", []string{"1.1.1.1", "2001:db8::1"}},
		"with a zone":             {"nameserver fe80::1%eth0\n", nil},
		"no address":              {"nameserver localhost\nnameserver\n", nil},
		"none":                    {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "nameservers", test.want, nameservers(test.resolvConf))
		})
	}
}
