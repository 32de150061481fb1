package yaml

import (
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

type file struct {
	Tenants []tenant `yaml:"tenants"`
}

type tenant struct {
	Name   string `yaml:"name"`
	APIKey string `yaml:"apiKey"`
}

// ReadTenants reads the tenants of a file. An unknown field is a
// mistake: it would be a key misspelt.
func ReadTenants(path string) (eventstore.Tenants, error) {
	f, err := os.Open(path)
	if err != nil {
		return eventstore.Tenants{}, fmt.Errorf("open the tenants' file: %w", err)
	}
	defer f.Close()
	tenants, err := decode(f)
	if err != nil {
		return eventstore.Tenants{}, fmt.Errorf("%s: %w", path, err)
	}
	return tenants, nil
}

func decode(r io.Reader) (eventstore.Tenants, error) {
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	var content file
	// An empty file has no document, and so no tenants.
	if err := d.Decode(&content); err != nil && !errors.Is(err, io.EOF) {
		return eventstore.Tenants{}, err
	}
	var list []eventstore.Tenant
	for _, t := range content.Tenants {
		list = append(list, eventstore.Tenant(t))
	}
	return eventstore.NewTenants(list)
}
