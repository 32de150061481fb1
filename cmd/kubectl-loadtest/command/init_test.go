package command_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What init writes, validate and a real API server accept.
func TestInitWritesWhatTheAPITakes(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	kubectl := apiserver.Kubectl(t)
	const examples = "../draft/testdata/"
	for name, args := range map[string][]string{
		"curl":         {"curl", "https://shop.example.com/api?x=$y", "-H", "Authorization: Bearer abc", "--name", "cart", "-d", `{"a": 1}`, "--service", "shop:http"},
		"copied curl":  {"--from-curl", examples + "chrome.sh"},
		"openapi":      {"--from-openapi", examples + "openapi.yaml", "--service=shop"},
		"har":          {"--from-har", examples + "session.har"},
		"vegeta, JSON": {"--from-vegeta", examples + "targets.jsonl", "--name", "replay"},
	} {
		t.Run(name, func(t *testing.T) {
			written := alone(t.Context(), t, append([]string{"init"}, args...)...)
			if written.code != 0 {
				t.Fatalf("exit code %d: %s", written.code, written.err)
			}
			if got := withInput(t, written.out, "validate", "-f", "-", "--config", allHosts(t)); got.code != 0 {
				t.Errorf("validate: exit code %d:\n%s\n%s", got.code, got.err, written.out)
			}
			if out, err := kubectl(written.out, "create", "--dry-run=server", "-n", p.namespace, "-f", "-"); err != nil {
				t.Errorf("the API server: %s", out)
			}
		})
	}
}

// A schedule is one that the API server takes, and its template is the LoadTest.
func TestInitWritesASchedule(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	args := []string{"init", "curl", "http://shop.example.com/cart", "-H", "Authorization: Bearer abc", "--name", "cart", "--service", "shop:80"}
	written := alone(t.Context(), t, append(args, "--schedule", "30 2 * * 1-5")...)
	if written.code != 0 {
		t.Fatalf("exit code %d: %s", written.code, written.err)
	}
	if out, err := apiserver.Kubectl(t)(written.out, "create", "-n", p.namespace, "-f", "-"); err != nil {
		t.Fatalf("the API server: %s\n%s", out, written.out)
	}
	s := &v1beta1.LoadTestSchedule{}
	must.Succeed(t, p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "cart"}, s))
	spec := s.Spec.Template.Spec
	if s.Spec.Schedule != "30 2 * * 1-5" || spec.Target.Service == nil || spec.Requests[0].HTTP.Path != "/cart" || len(spec.Thresholds) != 2 || !spec.Thresholds[1].IsRelative() {
		t.Errorf("the schedule is %+v", s.Spec)
	}
	contains(t, "the comment", written.out, "kubectl loadtest run --from schedule/cart", "kubectl create secret generic loadtest-cart-headers")
}

func TestInitRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		input string
		args  []string
		want  string
	}{
		"nothing":           {"", nil, "give one of --from-curl, --from-openapi, --from-har, --from-vegeta and --from-grpc, or init curl URL; 0 given"},
		"two sources":       {"", []string{"--from-curl", "-", "--from-har", "-"}, "2 given"},
		"a missing file":    {"", []string{"--from-har", "/does/not/exist"}, "--from-har /does/not/exist: no such file"},
		"no curl":           {"wget http://a/", []string{"--from-curl", "-"}, "--from-curl -: the text does not begin with curl"},
		"a flag of curl":    {"", []string{"curl", "http://a/", "--proxy-ntlm"}, "unknown flag: --proxy-ntlm: leave that flag out"},
		"a flag of ours":    {"", []string{"curl", "http://a/", "--name"}, "--name needs a value"},
		"a method":          {"", []string{"curl", "-X", "BREW", "http://a/"}, "method BREW is not one of GET, HEAD"},
		"an unclosed quote": {"curl 'http://a/", []string{"--from-curl", "-"}, "the curl command cannot be read"},
		"no HAR":            {"{}", []string{"--from-har", "-"}, "has no log.entries"},
	} {
		t.Run(name, func(t *testing.T) {
			got := withInput(t, tt.input, append([]string{"init"}, tt.args...)...)
			if got.code != 4 || got.out != "" || !strings.Contains(got.err, tt.want) {
				t.Errorf("exit code %d, %q, %q; want …%s…", got.code, got.out, got.err, tt.want)
			}
		})
	}
}
