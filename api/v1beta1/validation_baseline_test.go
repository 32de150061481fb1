package v1beta1_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// baselineValidations are about the comparison with an earlier run.
var baselineValidations = []validation{
	{name: "increase and maximum", valid: "{baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 10%}]}",
		invalid: "{baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 10%, max: 1s}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: exactly one of max, min, maxIncrease and maxDecrease must be set"}},
	{name: "increase and decrease", valid: "{baseline: {name: before}, thresholds: [{metric: goodput, maxDecrease: 2.5%}]}",
		invalid: "{baseline: {name: before}, thresholds: [{metric: goodput, maxDecrease: 5%, maxIncrease: 5%}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: exactly one of max, min, maxIncrease and maxDecrease must be set"}},
	{name: "increase without a baseline", valid: "{baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 0%}]}",
		invalid: "{thresholds: [{metric: p95, maxIncrease: 10%}]}",
		want:    []string{"spec.baseline: Required value: baseline or versus must be set when a threshold has maxIncrease or maxDecrease"}},
	{name: "decrease without a baseline", valid: "{baseline: {name: before}}",
		invalid: "{thresholds: [{metric: goodput, maxDecrease: 10%}]}",
		want:    []string{"spec.baseline: Required value: baseline or versus must be set when a threshold has maxIncrease or maxDecrease"}},
	{name: "increase that is no percentage", valid: "{baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 150%}]}",
		invalid: "{baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 5ms}]}",
		want:    []string{`spec.thresholds[0].maxIncrease: Invalid value: "5ms": spec.thresholds[0].maxIncrease in body should match '^[0-9]{1,6}([.][0-9]{1,6})?%$'`}},
	{name: "increase of any percentile", valid: "{baseline: {name: before}, thresholds: [{metric: p99.99, maxIncrease: 10%}]}",
		invalid: "{baseline: {name: before}, thresholds: [{metric: p98, maxIncrease: 10%}]}",
		want:    []string{"spec.thresholds[0].metric: Invalid value: metric must be p50, p75, p90, p95, p99, p99.9 or p99.99 with maxIncrease or maxDecrease: a finished LoadTest has no other percentile"}},
	{name: "increase of some requests", valid: "{requests: [{name: health, http: {path: /health}}], baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 10%, requests: [health]}]}",
		invalid: "{requests: [{name: health, http: {path: /health}}, {name: other, http: {path: /}}], baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 10%, requests: [health, other]}]}",
		want:    []string{"spec.thresholds[0].requests: Forbidden: requests must be one request, without types, of a latency, failureRate or rateLimitedRate, with maxIncrease or maxDecrease: a finished LoadTest has no other figures by request"}},
	{name: "decrease of the goodput of a request", valid: "{requests: [{name: health, http: {path: /health}}], baseline: {name: before}, thresholds: [{metric: failureRate, maxIncrease: 10%, requests: [health]}]}",
		invalid: "{requests: [{name: health, http: {path: /health}}], baseline: {name: before}, thresholds: [{metric: goodput, maxDecrease: 10%, requests: [health]}]}",
		want:    []string{"spec.thresholds[0].requests: Forbidden: requests must be one request, without types, of a latency, failureRate or rateLimitedRate, with maxIncrease or maxDecrease: a finished LoadTest has no other figures by request"}},
	{name: "a baseline of both kinds", valid: "{baseline: {schedule: nightly}, thresholds: [{metric: p95, maxIncrease: 10%}]}",
		invalid: "{baseline: {name: before, schedule: nightly}}",
		want:    []string{"spec.baseline: Invalid value: exactly one of name and schedule must be set"}},
	{name: "a baseline of neither kind", valid: "{baseline: {schedule: nightly}}",
		invalid: "{baseline: {}}",
		want:    []string{"spec.baseline: Invalid value: exactly one of name and schedule must be set"}},
	{name: "decrease of the goodput of a type", valid: "{baseline: {name: before}, thresholds: [{metric: failureRate, maxIncrease: 10%, types: [Read]}]}",
		invalid: "{baseline: {name: before}, thresholds: [{metric: goodput, maxDecrease: 10%, types: [Read]}]}",
		want:    []string{"spec.thresholds[0].types: Forbidden: types must be one type, of a latency, failureRate or rateLimitedRate, with maxIncrease or maxDecrease: a finished LoadTest has no other figures by type"}},
}

// TestNoRunIsItsOwnBaseline is apart, as the name is not in the spec.
func TestNoRunIsItsOwnBaseline(t *testing.T) {
	c, namespace := strictClient(t), apiserver.Namespace(t)
	object := loadTest(t, namespace, "{baseline: {name: itself}}")
	object.SetName("other")
	must.Report(t, "the baseline of another LoadTest is refused", c.Create(t.Context(), object, client.DryRunAll))
	object = loadTest(t, namespace, "{baseline: {name: itself}}")
	object.SetName("itself")
	same.As(t, "refusals of its own name", []string{ownName}, refusals(t, c.Create(t.Context(), object, client.DryRunAll)))
}

const ownName = "spec.baseline.name: Invalid value: name must be the name of another LoadTest"
