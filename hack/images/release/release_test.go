package release

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

// at is a release of a known commit.
func at(registry string) Release {
	return Release{
		Registry: registry, Version: "1.2.3", Source: "https://example.com/repository", Revision: "4bbd7f8",
		Created: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
	}
}

func TestRegistryAndVersionAreChecked(t *testing.T) {
	for name, test := range map[string]struct{ registry, version, want string }{
		"good":                   {"ghcr.io/example", "1.2.3", ""},
		"a candidate":            {"registry.example.com:5000/a/b", "1.2.3-rc.1", ""},
		"this machine":           {"localhost:5000/a", "0.0.1", ""},
		"no registry":            {"", "1.2.3", "--registry is required"},
		"no host":                {"example", "1.2.3", "must be a host and a path"},
		"a host without a dot":   {"example/a", "1.2.3", "must be a host and a path"},
		"no path":                {"ghcr.io/", "1.2.3", "must be a host and a path"},
		"a scheme":               {"https://ghcr.io/a", "1.2.3", "--registry"},
		"capitals":               {"ghcr.io/Example", "1.2.3", "--registry"},
		"no version":             {"ghcr.io/a", "", "--version"},
		"a v":                    {"ghcr.io/a", "v1.2.3", "without a v"},
		"a build":                {"ghcr.io/a", "1.2.3+4", "or a +"},
		"two numbers":            {"ghcr.io/a", "1.2", "semantic version"},
		"a tag with more behind": {"ghcr.io/a", "1.2.3\nx", "semantic version"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Release{Registry: test.registry, Version: test.version}.Validate()
			if test.want == "" && err != nil || test.want != "" && !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
}

// answers is a transport that answers everything.
type answers struct{}

func (answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestPlainHTTPIsForThisMachineAlone(t *testing.T) {
	for url, allowed := range map[string]bool{
		"https://registry.example.com/v2/":  true,
		"http://127.0.0.1:5000/v2/":         true,
		"http://[::1]:5000/v2/":             true,
		"http://localhost:5000/v2/":         true,
		"http://10.0.0.1:5000/v2/":          false,
		"http://registry.local/v2/":         false,
		"http://localhost.example.com/v2/":  false,
		"http://127.0.0.1.example.com/v2/":  false,
		"http://registry.example.com/v2/":   false,
		"http://user:secret@192.168.0.1/v2": false,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		must.Succeed(t, err)
		answer, err := onlyTLS{answers{}}.RoundTrip(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		if (err == nil) != allowed {
			t.Errorf("%s: error %v, want allowed: %t", url, err, allowed)
		}
	}
}
