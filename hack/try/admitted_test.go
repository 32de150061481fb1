package main

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
	"github.com/loadtest-dev/loadtest-operator/config/samples"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What is embedded is what the rules of the API make of the samples.
func TestSamplesAreEmbeddedAsAnAPIServerStoresThem(t *testing.T) {
	rules, err := admission.OfLoadTests()
	must.Succeed(t, err)
	for _, system := range serve.Names() {
		name := "try-" + serve.Service(system)
		file, err := samples.Files.Open(name + ".yaml")
		must.Succeed(t, err)
		found, err := document.Checked(name, file, document.CheckLoadTest)
		must.Succeed(t, err)
		must.Succeed(t, file.Close())
		if len(found) != 1 || found[0].GetName() != name {
			t.Fatalf("%s.yaml has %d LoadTests, want %s alone", name, len(found), name)
		}
		found[0].SetNamespace("local")
		lt, err := rules.Admit(t.Context(), found[0])
		must.Succeed(t, err)
		lt.Status = v1beta1.LoadTestStatus{}
		text, err := yaml.Marshal(lt)
		must.Succeed(t, err)
		golden.Check(t, "samples/"+name+".yaml", string(text))
		got, err := admitted(t.Context(), found[0])
		must.Succeed(t, err)
		same.As(t, name, lt, got)
	}
}
