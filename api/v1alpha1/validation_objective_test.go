package v1alpha1_test

// objectiveValidations are about shares of requests that are on time, about which
// latency is meant, and about thresholds that abort.
var objectiveValidations = []validation{
	{
		name:    "bound of onTimeRate",
		valid:   "{thresholds: [{metric: onTimeRate, within: 200ms, min: 99.5%}]}",
		invalid: "{thresholds: [{metric: onTimeRate, within: 200ms, min: 1s}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of onTimeRate, failureRate, rateLimitedRate, unsentRate or downtime must be a percentage such as 1%"},
	},
	{
		name:    "onTimeRate of requests and types",
		valid:   "{requests: [{name: follow}], thresholds: [{metric: onTimeRate, within: 1.5s, min: 99%, requests: [follow], types: [Read]}]}",
		invalid: "{requests: [{name: follow}], thresholds: [{metric: onTimeRate, min: 99%, requests: [follow]}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: within must be set with onTimeRate, and only with it"},
	},
	{
		name:    "within of another metric",
		valid:   "{thresholds: [{metric: p95, max: 1s}]}",
		invalid: "{thresholds: [{metric: p95, within: 1s, max: 1s}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: within must be set with onTimeRate, and only with it"},
	},
	{
		name:    "within of no time",
		valid:   "{thresholds: [{metric: onTimeRate, within: 1us, min: 99%}]}",
		invalid: "{thresholds: [{metric: onTimeRate, within: 0s, min: 99%}]}",
		want:    []string{`spec.thresholds[0].within: Invalid value: "0s": within must be a time from 1us to 1h, such as 200ms`},
	},
	{
		name:    "within beyond the longest time",
		valid:   "{thresholds: [{metric: onTimeRate, within: 1h, min: 99%}]}",
		invalid: "{thresholds: [{metric: onTimeRate, within: 61m, min: 99%}]}",
		want:    []string{`spec.thresholds[0].within: Invalid value: "61m": within must be a time from 1us to 1h, such as 200ms`},
	},
	{
		name:    "of",
		valid:   "{thresholds: [{metric: p99, of: Expected, max: 1s}, {metric: longest, of: All, max: 1s}]}",
		invalid: "{thresholds: [{metric: p99, of: Failed, max: 1s}]}",
		want:    []string{`spec.thresholds[0].of: Unsupported value: "Failed": supported values: "All", "Expected"`},
	},
	{
		name:    "of what is no latency",
		valid:   "{thresholds: [{metric: mean, of: Expected, max: 1s}]}",
		invalid: "{thresholds: [{metric: failureRate, of: Expected, max: 1%}]}",
		want:    []string{"spec.thresholds[0].of: Forbidden: of must not be set with a metric that is no latency"},
	},
	{
		name:    "time",
		valid:   "{thresholds: [{metric: p99, time: ServiceTime, max: 1s}, {metric: p50, time: ResponseTime, of: Expected, max: 1s}]}",
		invalid: "{thresholds: [{metric: p99, time: WaitTime, max: 1s}]}",
		want:    []string{`spec.thresholds[0].time: Unsupported value: "WaitTime": supported values: "ResponseTime", "ServiceTime"`},
	},
	{
		name:    "time of what is no latency",
		valid:   "{thresholds: [{metric: longest, time: ServiceTime, max: 1s}]}",
		invalid: "{thresholds: [{metric: onTimeRate, within: 1s, time: ServiceTime, min: 99%}]}",
		want:    []string{"spec.thresholds[0].time: Forbidden: time must not be set with a metric that is no latency"},
	},
	{
		name:    "Abort on what is known late",
		valid:   "{thresholds: [{metric: failureRate, max: 50%, onBreach: Abort}]}",
		invalid: "{thresholds: [{metric: unsentRate, max: 50%, onBreach: Abort}]}",
		want:    []string{"spec.thresholds[0].onBreach: Forbidden: onBreach must not be Abort with overLimitGrants, falseDenials, unsentRate, downtime or drift, which are not known before the end of a step"},
	},
	{
		name:    "grace without Abort",
		valid:   "{thresholds: [{metric: p95, max: 1s, onBreach: Abort, grace: 0s}]}",
		invalid: "{thresholds: [{metric: p95, max: 1s, onBreach: StopLadder, grace: 10s}]}",
		want:    []string{"spec.thresholds[0].grace: Forbidden: grace must not be set without onBreach Abort"},
	},
	{
		name:    "grace of no time",
		valid:   "{thresholds: [{metric: p95, max: 1s, onBreach: Abort, grace: 1m30s}]}",
		invalid: "{thresholds: [{metric: p95, max: 1s, onBreach: Abort, grace: soon}]}",
		want:    []string{`spec.thresholds[0].grace: Invalid value: "soon": grace must be a time from 0s to 24h, such as 10s`},
	},
	{
		name:    "Abort on a comparison",
		valid:   "{baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 10%, onBreach: StopLadder}]}",
		invalid: "{baseline: {name: before}, thresholds: [{metric: p95, maxIncrease: 10%, onBreach: Abort}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: maxIncrease and maxDecrease must not be set with onTimeRate, drift, of, time or onBreach Abort"},
	},
	{
		name:    "service time of a comparison",
		valid:   "{baseline: {name: before}, thresholds: [{metric: p95, maxDecrease: 10%}]}",
		invalid: "{baseline: {name: before}, thresholds: [{metric: p95, maxDecrease: 10%, time: ServiceTime}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: maxIncrease and maxDecrease must not be set with onTimeRate, drift, of, time or onBreach Abort"},
	},
}
