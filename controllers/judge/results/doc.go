// Package results turns the merged measurement of a step into what the status
// says of it: counts, rates, latencies, the generator's own health, and the
// audit of a rate limiter.
//
//	measure.Measurement ─ StepResult ─▶ v1beta1.StepResult
//	                ├─ latency.go    quantiles, left out when samples are too few
//	                ├─ generator.go  was the generator the limit?
//	                └─ ratelimit.go  grants and denials against the contract
//	v1beta1.LoadTestStatus ─ CompleteSteps ─▶ []v1beta1.StepStatus
//	                └─ complete.go   the steps that all workers measured to their end
//	[]v1beta1.StepStatus ─ Spread ─▶ []v1beta1.SpreadStatus
//	                └─ spread.go     how far the repetitions of a step differ
//
// It measures and explains; package verdict judges. It is pure: it may import
// the API, packages plan, exchange, metric, trend, measure, text and the standard
// library; no client, clock or logger.
package results
