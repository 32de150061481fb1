package audit

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

// What the load tests send is in one template for each service.
//
//go:embed specs/*.yaml
var specs embed.FS

// The types of request in the specs.
const (
	Create = "Create"
	Follow = "Follow"
	Append = "Append"
	Batch  = "Batch"
	Hit    = "Hit"
)

const (
	// Filled is how many links the shortener's load test creates before it
	// begins. They are part of no result.
	Filled = 60
	// PerBatch is how many events a batch of the event store's load test has.
	PerBatch = 10
)

// length is how long the steady part of a load test lasts. With a pod that dies
// in it, it leaves time for the next to become ready.
func (p Preset) length() string {
	if len(p.Victims()) > 0 {
		return "15s"
	}
	return "8s"
}

// Spec is the spec of the preset's LoadTest, as YAML.
func (p Preset) Spec() (string, error) {
	t, err := template.ParseFS(specs, "specs/*.yaml")
	if err != nil {
		return "", err
	}
	create, code := "/urls", ".code"
	if p.API == "seed-002" {
		create, code = "/api/urls", ".short_code"
	}
	batch := make([]string, PerBatch)
	for i := range batch {
		batch[i] = `{"type":"batched","data":{"id":"${uuid}"},"timestamp":"2026-11-20T12:00:00Z"}`
	}
	var spec strings.Builder
	err = t.ExecuteTemplate(&spec, string(p.Service)+".yaml", map[string]any{
		"Preset": p, "Length": p.length(), "Create": create, "Code": code, "Filled": Filled,
		"PerBatch": PerBatch, "Batch": "[" + strings.Join(batch, ",") + "]",
		"Refill": strconv.FormatFloat(p.RefillPerSecond, 'f', -1, 64),
	})
	if err != nil {
		return "", fmt.Errorf("write the spec of %s: %w", p.Name, err)
	}
	return spec.String(), nil
}
