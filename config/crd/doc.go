// Package crd has the definition of LoadTests as it is generated, for commands that
// apply its defaults and rules without an API server.
package crd

import _ "embed"

// LoadTests is the CustomResourceDefinition, in YAML.
//
//go:embed bases/loadtest.dev_loadtests.yaml
var LoadTests []byte
