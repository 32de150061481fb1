// Package crd has the definitions of our resources as they are generated, for commands that
// apply their defaults and rules without an API server.
package crd

import _ "embed"

// LoadTests is the CustomResourceDefinition of LoadTests, in YAML.
//
//go:embed bases/loadtest.dev_loadtests.yaml
var LoadTests []byte

// Schedules is the CustomResourceDefinition of LoadTestSchedules, in YAML.
//
//go:embed bases/loadtest.dev_loadtestschedules.yaml
var Schedules []byte
