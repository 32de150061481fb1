package v1alpha1_test

// journeyValidations are about what users do in order, and about thresholds on it.
var journeyValidations = []validation{
	{
		name: "journey",
		valid: `{requests: [{name: login}, {name: buy, weight: 0}], data: [{name: a, configMapKeyRef: {name: rows, key: a.csv}, format: CSV}],
			journeys: [{name: shop, weight: 2, user: {data: a}, timeLimit: 30s, steps: [{request: login, capture: {token: .token}}, {think: 1s-3s}, {request: buy, times: 3}]}],
			steps: [{users: 5, duration: 1s}]}`,
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: logout}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys: Invalid value: requests of a journey must be names of spec.requests"},
	},
	{
		name:    "requests of journeys alone",
		valid:   "{requests: [{name: login, weight: 0}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login, weight: 0}], journeys: [], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys: Invalid value: 0: spec.journeys in body should have at least 1 items"},
	},
	{
		name:    "names of journeys",
		valid:   "{requests: [{name: login}], journeys: [{name: a, steps: [{request: login}]}, {name: b, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: a, steps: [{request: login}]}, {name: a, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{`spec.journeys[1]: Duplicate value: {"name":"a"}`},
	},
	{
		name:    "weight of a journey",
		valid:   "{requests: [{name: login}], journeys: [{name: a, weight: 1000, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: a, weight: 0, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys[0].weight: Invalid value: 0: spec.journeys[0].weight in body should be greater than or equal to 1"},
	},
	{
		name:    "data of a journey's users",
		valid:   "{requests: [{name: login}], data: [{name: a, configMapKeyRef: {name: rows, key: a.csv}, format: CSV}], journeys: [{name: shop, user: {data: a}, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], data: [{name: a, configMapKeyRef: {name: rows, key: a.csv}, format: CSV}], journeys: [{name: shop, user: {data: b}, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys: Invalid value: user.data of a journey must be the name of one of spec.data"},
	},
	{
		name:    "time limit of a journey",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, timeLimit: 1h, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, timeLimit: 61m, steps: [{request: login}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{`spec.journeys[0].timeLimit: Invalid value: "61m": timeLimit must be a time from 1ms to 1h, such as 30s`},
	},
	{
		name:    "journey that sends nothing",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{think: 1s}, {request: login}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{think: 1s}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys[0].steps: Invalid value: steps must have at least one with a request"},
	},
	{
		name:    "request or think",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login, times: 100}, {think: 2s}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login, think: 1s}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys[0].steps[0]: Invalid value: exactly one of request and think must be set"},
	},
	{
		name:    "length of a wait",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}, {think: 0s-1h}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}, {think: 3s-1s}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{`spec.journeys[0].steps[1].think: Invalid value: "3s-1s": must be a time from 1ms to 1h such as 2s, or a range of which the first is the shorter, such as 1s-3s`},
	},
	{
		name:    "times of a wait",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}, {think: 2s}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}, {think: 2s, times: 2}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys[0].steps[1]: Invalid value: times must not be set without request"},
	},
	{
		name:    "capture of a wait",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login, capture: {a: .a}}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}, {think: 2s, capture: {a: .a}}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys[0].steps[1]: Invalid value: capture must not be set without request"},
	},
	{
		name:    "name of a captured value",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login, capture: {token_2: .token}}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login, capture: {user: .token}}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys[0].steps[0].capture: Invalid value: capture must have names such as token, none of which is user, seq, worker, uuid or rand"},
	},
	{
		name:    "name that the setup captures",
		valid:   "{requests: [{name: login}], setup: {fill: {request: login, count: 1, capture: {code: .code}}}, journeys: [{name: shop, steps: [{request: login, capture: {token: .token}}]}], steps: [{users: 5, duration: 1s}]}",
		invalid: "{requests: [{name: login}], setup: {fill: {request: login, count: 1, capture: {code: .code}}}, journeys: [{name: shop, steps: [{request: login, capture: {code: .code}}]}], steps: [{users: 5, duration: 1s}]}",
		want:    []string{"spec.journeys: Invalid value: capture of a journey must have no name that setup.fill captures"},
	},
	{
		name:    "journeys of a rate",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, ratePerUser: 1, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, duration: 1s}, {rate: 1, duration: 1s}]}",
		want:    []string{"spec.journeys: Forbidden: journeys must not be set with a rate, whose requests are of no user; set users"},
	},
	{
		name:    "waits beside a schedule",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}, {think: 1s}]}], steps: [{users: 1, duration: 1s}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}, {think: 1s}]}], steps: [{users: 1, ratePerUser: 1, duration: 1s}]}",
		want:    []string{"spec.journeys: Forbidden: think must not be set with ratePerUser, which says when a user's requests are due"},
	},
	{
		name:    "threshold on journeys",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, duration: 1s}], thresholds: [{metric: p95, max: 1s, journeys: [shop]}, {metric: failureRate, max: 1%, journeys: [shop]}]}",
		invalid: "{thresholds: [{metric: p95, max: 1s, journeys: [shop]}]}",
		want:    []string{"spec.thresholds: Invalid value: journeys of a threshold must be names of spec.journeys"},
	},
	{
		name:    "metric of journeys",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, duration: 1s}], thresholds: [{metric: mean, max: 1s, journeys: [shop]}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, duration: 1s}], thresholds: [{metric: goodput, min: 1, journeys: [shop]}]}",
		want:    []string{"spec.thresholds[0].journeys: Forbidden: journeys must not be set with a metric that is neither a latency nor failureRate"},
	},
	{
		name:    "journeys beside requests",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, duration: 1s}], thresholds: [{metric: p95, max: 1s, journeys: [shop]}, {metric: p95, max: 1s, requests: [login]}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, duration: 1s}], thresholds: [{metric: p95, max: 1s, journeys: [shop], requests: [login]}]}",
		want:    []string{"spec.thresholds[0].journeys: Forbidden: journeys must not be set with requests, types, of, time, maxIncrease or maxDecrease"},
	},
	{
		name:    "Abort on journeys",
		valid:   "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, duration: 1s}], thresholds: [{metric: p95, max: 1s, journeys: [shop], onBreach: StopLadder}]}",
		invalid: "{requests: [{name: login}], journeys: [{name: shop, steps: [{request: login}]}], steps: [{users: 1, duration: 1s}], thresholds: [{metric: p95, max: 1s, journeys: [shop], onBreach: Abort}]}",
		want:    []string{"spec.thresholds[0].onBreach: Forbidden: onBreach must not be Abort with journeys, which are judged when a step has ended"},
	},
}
