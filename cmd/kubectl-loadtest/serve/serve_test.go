package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
	"github.com/loadtest-dev/loadtest-operator/config/samples"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Each system starts, and is what the load test of its name expects.
func TestSystemsAreWhatTheirSamplesExpect(t *testing.T) {
	for _, name := range serve.Names() {
		t.Run(name, func(t *testing.T) {
			text, err := samples.Files.ReadFile("try-" + serve.Service(name) + ".yaml")
			must.Succeed(t, err)
			var lt v1beta1.LoadTest
			must.Succeed(t, yaml.UnmarshalStrict(text, &lt))
			address, stop, err := serve.Start(t.Context(), name)
			must.Succeed(t, err)
			defer func() { must.Report(t, "stop", stop()) }()
			resp, err := http.Get("http://" + address + "/version")
			must.Succeed(t, err)
			defer resp.Body.Close()
			var about map[string]json.RawMessage
			must.Succeed(t, json.NewDecoder(resp.Body).Decode(&about))
			for _, p := range lt.Spec.Preflight {
				for _, want := range p.Expect.JSON {
					same.As(t, string(want.Path)+" of /version", want.Text(), strings.Trim(string(about[string(want.Path)[1:]]), `"`))
				}
			}
		})
	}
}
