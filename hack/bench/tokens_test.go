package main

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestASearchIsComparedWithTheCapacity(t *testing.T) {
	var lt v1beta1.LoadTest
	must.Succeed(t, yaml.UnmarshalStrict([]byte(`
status:
  search: {state: Found, low: "23.75", high: "25.07", message: Kept up to 23.75/s., precision: 5%, maxProbes: 20}
  steps:
    - name: 5/s
      result: {due: 100, streams: {events: 1, firstEvent: {samples: 100, p50: 20ms}, onTime: [{firstEvent: 500ms, requests: 99}]}}
    - {name: rest}
`), &lt))
	var out bytes.Buffer
	line, err := (&bench{out: &out}).tokensLine(&lt)
	must.Succeed(t, err)
	if line != "bench-tokens: capacity=25.00 found=23.75 breached=25.07 ratio=0.950 state=Found" {
		t.Error(line)
	}
	for _, want := range []string{"Kept up to 23.75/s.", "| 5/s  | 20ms            | –   | 99.0%   |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	lt.Status.Search.Low = ""
	if _, err := (&bench{out: &out}).tokensLine(&lt); err == nil {
		t.Error("a search that has kept nothing has a line")
	}
	lt.Status.Search = nil
	if _, err := (&bench{out: &out}).tokensLine(&lt); err == nil {
		t.Error("a run without a search has a line")
	}
}
