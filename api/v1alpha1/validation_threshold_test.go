package v1alpha1_test

// thresholdValidations are about what the target must keep.
var thresholdValidations = []validation{
	{
		name:    "unknown metric",
		valid:   "{thresholds: [{metric: p99.9, max: 1s}]}",
		invalid: "{thresholds: [{metric: p42, max: 1s}]}",
		want:    []string{`spec.thresholds[0].metric: Unsupported value: "p42": supported values: "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max", "mean", "failureRate", "rateLimitedRate", "unsentRate", "goodput", "throughput", "overLimitGrants", "falseDenials"`},
	},
	{
		name:    "no bound",
		valid:   "{thresholds: [{metric: goodput, min: '1000'}]}",
		invalid: "{thresholds: [{metric: goodput}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: exactly one of max and min must be set"},
	},
	{
		name:    "two bounds",
		valid:   "{thresholds: [{metric: p95, max: 500ms}]}",
		invalid: "{thresholds: [{metric: p95, max: 500ms, min: 1ms}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: exactly one of max and min must be set"},
	},
	{
		name:    "empty bound",
		valid:   "{thresholds: [{metric: p95, max: 1s}]}",
		invalid: "{thresholds: [{metric: p95, max: ''}]}",
		want:    []string{`spec.thresholds[0].max: Invalid value: "": spec.thresholds[0].max in body should be at least 1 chars long`},
	},
	{
		name:    "bound of a quantile",
		valid:   "{thresholds: [{metric: p95, max: 1.5s}]}",
		invalid: "{thresholds: [{metric: p95, max: '500'}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of a latency must be a time such as 500ms"},
	},
	{
		name:    "lower bound of a quantile",
		valid:   "{thresholds: [{metric: p50, min: 100us}]}",
		invalid: "{thresholds: [{metric: p50, min: 1%}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of a latency must be a time such as 500ms"},
	},
	{
		name:    "bound of the longest time",
		valid:   "{thresholds: [{metric: max, max: 1s}]}",
		invalid: "{thresholds: [{metric: max, max: 1h}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of a latency must be a time such as 500ms"},
	},
	{
		name:    "bound of the mean",
		valid:   "{thresholds: [{metric: mean, max: 1ms}]}",
		invalid: "{thresholds: [{metric: mean, max: fast}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of a latency must be a time such as 500ms"},
	},
	{
		name:    "bound of failureRate",
		valid:   "{thresholds: [{metric: failureRate, max: 0.1%}]}",
		invalid: "{thresholds: [{metric: failureRate, max: '0.001'}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of failureRate, rateLimitedRate or unsentRate must be a percentage such as 1%"},
	},
	{
		name:    "bound of rateLimitedRate",
		valid:   "{thresholds: [{metric: rateLimitedRate, min: 50%}]}",
		invalid: "{thresholds: [{metric: rateLimitedRate, min: 500ms}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of failureRate, rateLimitedRate or unsentRate must be a percentage such as 1%"},
	},
	{
		name:    "bound of unsentRate",
		valid:   "{thresholds: [{metric: unsentRate, max: 0%}]}",
		invalid: "{thresholds: [{metric: unsentRate, max: '%'}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of failureRate, rateLimitedRate or unsentRate must be a percentage such as 1%"},
	},
	{
		name:    "bound of goodput",
		valid:   "{thresholds: [{metric: goodput, min: '0.5'}]}",
		invalid: "{thresholds: [{metric: goodput, min: 1000/s}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of goodput or throughput must be a number of requests per second such as 1000"},
	},
	{
		name:    "bound of throughput",
		valid:   "{thresholds: [{metric: throughput, max: '1000'}]}",
		invalid: "{thresholds: [{metric: throughput, max: 1k}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of goodput or throughput must be a number of requests per second such as 1000"},
	},
	{
		name:    "bound of overLimitGrants",
		valid:   "{rateLimit: {capacity: 50, refillPerSecond: '10', clientHeader: X-Forwarded-For}, thresholds: [{metric: overLimitGrants, max: '0'}]}",
		invalid: "{rateLimit: {capacity: 50, refillPerSecond: '10', clientHeader: X-Forwarded-For}, thresholds: [{metric: overLimitGrants, max: 0%}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of overLimitGrants or falseDenials must be a whole number such as 0"},
	},
	{
		name:    "bound of falseDenials",
		valid:   "{rateLimit: {capacity: 50, refillPerSecond: '10', clientHeader: X-Forwarded-For}, thresholds: [{metric: falseDenials, max: '12'}]}",
		invalid: "{rateLimit: {capacity: 50, refillPerSecond: '10', clientHeader: X-Forwarded-For}, thresholds: [{metric: falseDenials, max: '1.5'}]}",
		want:    []string{"spec.thresholds[0]: Invalid value: max or min of overLimitGrants or falseDenials must be a whole number such as 0"},
	},
	{
		name:    "a threshold on a request that is not there",
		valid:   "{requests: [{name: follow}], thresholds: [{metric: p95, max: 1s, requests: [follow]}]}",
		invalid: "{requests: [{name: follow}], thresholds: [{metric: p95, max: 1s, requests: [follow, create]}]}",
		want:    []string{"spec.thresholds: Invalid value: requests of a threshold must be names of spec.requests"},
	},
	{
		name:    "unsentRate of a request",
		valid:   "{requests: [{name: follow}], thresholds: [{metric: unsentRate, max: 0%}]}",
		invalid: "{requests: [{name: follow}], thresholds: [{metric: unsentRate, max: 0%, requests: [follow]}]}",
		want:    []string{"spec.thresholds[0].requests: Forbidden: requests must not be set with overLimitGrants, falseDenials or unsentRate, which are not known per request"},
	},
	{
		name:    "upTo",
		valid:   "{thresholds: [{metric: p95, max: 1s, upTo: 1}]}",
		invalid: "{thresholds: [{metric: p95, max: 1s, upTo: 0}]}",
		want:    []string{"spec.thresholds[0].upTo: Invalid value: 0: spec.thresholds[0].upTo in body should be greater than or equal to 1"},
	},
	{
		name:    "onBreach",
		valid:   "{thresholds: [{metric: p95, max: 1s, onBreach: StopLadder}]}",
		invalid: "{thresholds: [{metric: p95, max: 1s, onBreach: Abort}]}",
		want:    []string{`spec.thresholds[0].onBreach: Unsupported value: "Abort": supported values: "Continue", "StopLadder"`},
	},
	{
		name:    "overLimitGrants of no limiter",
		valid:   "{rateLimit: {capacity: 50, refillPerSecond: '10', clientHeader: X-Forwarded-For}, thresholds: [{metric: overLimitGrants, max: '0'}]}",
		invalid: "{thresholds: [{metric: overLimitGrants, max: '0'}]}",
		want:    []string{"spec.rateLimit: Required value: rateLimit must be set when a threshold is on overLimitGrants or falseDenials"},
	},
	{
		name:    "falseDenials of no limiter",
		valid:   "{rateLimit: {capacity: 50, refillPerSecond: '10', clientHeader: X-Forwarded-For}, thresholds: [{metric: falseDenials, max: '0'}]}",
		invalid: "{thresholds: [{metric: p95, max: 1s}, {metric: falseDenials, max: '0'}]}",
		want:    []string{"spec.rateLimit: Required value: rateLimit must be set when a threshold is on overLimitGrants or falseDenials"},
	},
	{
		name:    "capacity",
		valid:   "{rateLimit: {capacity: 1, refillPerSecond: '10', clientHeader: A}}",
		invalid: "{rateLimit: {capacity: 0, refillPerSecond: '10', clientHeader: A}}",
		want:    []string{"spec.rateLimit.capacity: Invalid value: 0: spec.rateLimit.capacity in body should be greater than or equal to 1"},
	},
	{
		name:    "refill",
		valid:   "{rateLimit: {capacity: 1, refillPerSecond: '0.5', clientHeader: A}}",
		invalid: "{rateLimit: {capacity: 1, refillPerSecond: '0', clientHeader: A}}",
		want:    []string{`spec.rateLimit.refillPerSecond: Invalid value: "0": must be a decimal number greater than 0, such as 12 or 0.5`},
	},
	{
		name:    "client header",
		valid:   "{rateLimit: {capacity: 1, refillPerSecond: '1', clientHeader: X-Api-Key}}",
		invalid: "{rateLimit: {capacity: 1, refillPerSecond: '1', clientHeader: 'X:'}}",
		want:    []string{`spec.rateLimit.clientHeader: Invalid value: "X:": spec.rateLimit.clientHeader in body should match '^[-!#$%&'*+.^_` + "`" + `|~0-9A-Za-z]+$'`},
	},
}
