package main

import (
	"context"
	"embed"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
)

// stored are the LoadTests that are run, as an API server stores them: with their defaults. A test
// compares them with what the rules of the API make of config/samples.
//
//go:embed samples/*.yaml
var stored embed.FS

// admitted is a sample as an API server stores it. It is read and not made, since the rules of the API
// take long to compile.
func admitted(_ context.Context, m document.Manifest) (*v1beta1.LoadTest, error) {
	text, err := stored.ReadFile("samples/" + m.GetName() + ".yaml")
	if err != nil {
		return nil, err
	}
	lt := &v1beta1.LoadTest{}
	if err := yaml.UnmarshalStrict(text, lt); err != nil {
		return nil, err
	}
	lt.Namespace, lt.UID, lt.Generation, lt.CreationTimestamp = m.GetNamespace(), m.GetUID(), m.GetGeneration(), m.GetCreationTimestamp()
	return lt, nil
}
