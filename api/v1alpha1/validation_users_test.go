package v1alpha1_test

// usersValidations are about what users do between their requests, and how their number
// changes.
var usersValidations = []validation{
	{
		name:    "ramp of users",
		valid:   "{steps: [{users: 10, rampTo: 1000000, duration: 1s}, {users: 10, rampTo: '1', duration: 1s, ratePerUser: 1}, {users: 1, rampTo: 2, duration: 1s, think: 1s}]}",
		invalid: "{steps: [{users: 10, rampTo: '2.5', duration: 1s}]}",
		want:    []string{"spec.steps[0]: Invalid value: rampTo must be a whole number of at most 1000000 with users"},
	},
	{
		name:    "ramp to too many users",
		valid:   "{steps: [{rate: 10, rampTo: 1000001, duration: 1s}]}",
		invalid: "{steps: [{users: 10, rampTo: 1000001, duration: 1s}]}",
		want:    []string{"spec.steps[0]: Invalid value: rampTo must be a whole number of at most 1000000 with users"},
	},
	{
		name:    "ramp of a burst",
		valid:   "{steps: [{users: 10, rampTo: 20, duration: 1s}]}",
		invalid: "{steps: [{users: 10, rampTo: 20, requestsPerUser: 1}]}",
		want:    []string{"spec.steps[0]: Invalid value: rampTo must not be set without rate, or users and duration"},
	},
	{
		name:    "think time of a step",
		valid:   "{steps: [{users: 1, duration: 1s, think: 2s}, {users: 1, requestsPerUser: 2, think: 0s-1m30s}]}",
		invalid: "{steps: [{users: 1, duration: 1s, think: 3s-1s}]}",
		want:    []string{`spec.steps[0].think: Invalid value: "3s-1s": must be a time from 1ms to 1h such as 2s, or a range of which the first is the shorter, such as 1s-3s`},
	},
	{
		name:    "think time of nothing",
		valid:   "{steps: [{users: 1, duration: 1s, think: 1ms}, {users: 1, duration: 1s, think: 0s-1ms}]}",
		invalid: "{steps: [{users: 1, duration: 1s, think: 0s}]}",
		want:    []string{`spec.steps[0].think: Invalid value: "0s": must be a time from 1ms to 1h such as 2s, or a range of which the first is the shorter, such as 1s-3s`},
	},
	{
		name:    "think time that is no time",
		valid:   "{steps: [{users: 1, duration: 1s, think: 1.5s-2.5s}]}",
		invalid: "{steps: [{users: 1, duration: 1s, think: 1s-2s-3s}]}",
		want:    []string{`spec.steps[0].think: Invalid value: "1s-2s-3s": must be a time from 1ms to 1h such as 2s, or a range of which the first is the shorter, such as 1s-3s`},
	},
	{
		name:    "think time of a rung of 61m",
		valid:   "{steps: null, ladder: {users: [1], duration: 1s, think: 1m-1h}}",
		invalid: "{steps: null, ladder: {users: [1], duration: 1s, think: 1m-61m}}",
		want:    []string{`spec.ladder.think: Invalid value: "1m-61m": must be a time from 1ms to 1h such as 2s, or a range of which the first is the shorter, such as 1s-3s`},
	},
	{
		name:    "think time of arrivals",
		valid:   "{steps: [{users: 1, duration: 1s, think: 1s}]}",
		invalid: "{steps: [{rate: '1', duration: 1s, think: 1s}]}",
		want:    []string{"spec.steps[0]: Invalid value: think must not be set without users, or with ratePerUser"},
	},
	{
		name:    "think time of users with a rate",
		valid:   "{steps: [{users: 1, duration: 1s, think: 1s}]}",
		invalid: "{steps: [{users: 1, duration: 1s, ratePerUser: 1, think: 1s}]}",
		want:    []string{"spec.steps[0]: Invalid value: think must not be set without users, or with ratePerUser"},
	},
	{
		name:    "think time of a ladder of rates",
		valid:   "{steps: null, ladder: {users: [1], duration: 1s, think: 1s}}",
		invalid: "{steps: null, ladder: {rates: [1], duration: 1s, think: 1s}}",
		want:    []string{"spec.ladder: Invalid value: think must not be set without users, or with ratePerUser"},
	},
	{
		name:    "think time of a ladder of users with a rate",
		valid:   "{steps: null, ladder: {users: [1], duration: 1s, think: 1s}}",
		invalid: "{steps: null, ladder: {users: [1], ratePerUser: 1, duration: 1s, think: 1s}}",
		want:    []string{"spec.ladder: Invalid value: think must not be set without users, or with ratePerUser"},
	},
	{
		name:    "think time of a probe",
		valid:   "{steps: null, search: {users: {min: 1, max: 100}, duration: 1s, think: 1s}}",
		invalid: "{steps: null, search: {users: {min: 1, max: 100}, duration: 1s, think: 1d}}",
		want:    []string{`spec.search.think: Invalid value: "1d": must be a time from 1ms to 1h such as 2s, or a range of which the first is the shorter, such as 1s-3s`},
	},
	{
		name:    "think time of a search for a rate",
		valid:   "{steps: null, search: {users: {min: 1, max: 100}, duration: 1s, think: 1s-3s}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, think: 1s-3s}}",
		want:    []string{"spec.search: Invalid value: think must not be set without users, or with ratePerUser"},
	},
	{
		name:    "think time of a search for users with a rate",
		valid:   "{steps: null, search: {users: {min: 1, max: 100}, duration: 1s, think: 1s-3s}}",
		invalid: "{steps: null, search: {users: {min: 1, max: 100}, ratePerUser: 1, duration: 1s, think: 1s-3s}}",
		want:    []string{"spec.search: Invalid value: think must not be set without users, or with ratePerUser"},
	},
}
