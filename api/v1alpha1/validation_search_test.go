package v1alpha1_test

// searchValidations are about the load that is looked for.
var searchValidations = []validation{
	{
		name:    "a search beside steps",
		valid:   "{steps: null, search: {users: {min: 1, max: 100}, duration: 20s}}",
		invalid: "{search: {users: {min: 1, max: 100}, duration: 20s}}",
		want:    []string{"spec: Invalid value: exactly one of ladder, steps and search must be set"},
	},
	{
		name:    "a search for users and a rate",
		valid:   "{steps: null, search: {rate: {min: '0.5', max: 100}, duration: 20s}}",
		invalid: "{steps: null, search: {users: {min: 1, max: 100}, rate: {min: '0.5', max: 100}, duration: 20s}}",
		want:    []string{"spec.search: Invalid value: exactly one of users and rate must be set"},
	},
	{
		name:    "a search for a rate of each user",
		valid:   "{steps: null, search: {users: {min: 1, max: 100}, ratePerUser: 1, duration: 20s}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, ratePerUser: 1, duration: 20s}}",
		want:    []string{"spec.search: Invalid value: ratePerUser must not be set without users"},
	},
	{
		name:    "no users between min and max",
		valid:   "{steps: null, search: {users: {min: 1, max: 2}, duration: 20s}}",
		invalid: "{steps: null, search: {users: {min: 2, max: 2}, duration: 20s}}",
		want:    []string{"spec.search.users: Invalid value: min must be less than max"},
	},
	{
		name:    "no rate between min and max",
		valid:   "{steps: null, search: {rate: {min: 99, max: '100'}, duration: 20s}}",
		invalid: "{steps: null, search: {rate: {min: '100', max: 99}, duration: 20s}}",
		want:    []string{"spec.search.rate: Invalid value: min must be less than max"},
	},
	{
		name:    "duration of a probe",
		valid:   "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1h}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 999ms}}",
		want:    []string{`spec.search.duration: Invalid value: "999ms": duration must be a time from 1s to 1h, such as 20s`},
	},
	{
		name:    "warm-up of a probe",
		valid:   "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, warmUp: 0s}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, warmUp: 61m}}",
		want:    []string{`spec.search.warmUp: Invalid value: "61m": warmUp must be a time from 0s to 1h, such as 5s`},
	},
	{
		name:    "rest between probes",
		valid:   "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, rest: 0s}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, rest: 61m}}",
		want:    []string{`spec.search.rest: Invalid value: "61m": rest must be a time from 0s to 1h, such as 10s`},
	},
	{
		name:    "a hold that is too long",
		valid:   "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, hold: 24h}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, hold: 25h}}",
		want:    []string{`spec.search.hold: Invalid value: "25h": hold must be a time from 0s to 24h, such as 2m`},
	},
	{
		name:    "a hold that is shorter than a probe",
		valid:   "{steps: null, search: {rate: {min: 1, max: 100}, duration: 10s, hold: 0s}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 10s, hold: 9s}}",
		want:    []string{"spec.search: Invalid value: hold must be 0s, or at least duration"},
	},
	{
		name:    "a precision that is too fine",
		valid:   "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, precision: 1%}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, precision: 0.99%}}",
		want:    []string{`spec.search.precision: Invalid value: "0.99%": precision must be a percentage from 1% to 50%, such as 5%`},
	},
	{
		name:    "a precision that is too coarse",
		valid:   "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, precision: 50%}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s, precision: 51%}}",
		want:    []string{`spec.search.precision: Invalid value: "51%": precision must be a percentage from 1% to 50%, such as 5%`},
	},
	{
		name:    "repetitions of a search",
		valid:   "{steps: null, repetitions: 1, search: {rate: {min: 1, max: 100}, duration: 1s}}",
		invalid: "{steps: null, repetitions: 2, search: {rate: {min: 1, max: 100}, duration: 1s}}",
		want:    []string{"spec.repetitions: Forbidden: repetitions must not be set with search, which repeats the probes that decide"},
	},
	{
		name:    "a search that ends at a breach",
		valid:   "{steps: null, thresholds: [{metric: p95, max: 1s, onBreach: Continue}], search: {rate: {min: 1, max: 100}, duration: 1s}}",
		invalid: "{steps: null, thresholds: [{metric: p95, max: 1s, onBreach: StopLadder}], search: {rate: {min: 1, max: 100}, duration: 1s}}",
		want:    []string{"spec.thresholds: Forbidden: onBreach must not be set with search, which goes on after a breach"},
	},
	{
		name:    "a threshold that not every probe has",
		valid:   "{steps: null, thresholds: [{metric: p95, max: 1s}], search: {users: {min: 1, max: 100}, duration: 1s}}",
		invalid: "{steps: null, thresholds: [{metric: p95, max: 1s, upToUsers: 10}], search: {users: {min: 1, max: 100}, duration: 1s}}",
		want:    []string{"spec.thresholds: Forbidden: upToUsers must not be set with search, whose thresholds hold for every probe"},
	},
	{
		name:    "the least rate of a search",
		valid:   "{steps: null, search: {rate: {min: '0.1', max: '0.2'}, duration: 1s}}",
		invalid: "{steps: null, search: {rate: {min: '0', max: 100}, duration: 1s}}",
		want:    []string{`spec.search.rate.min: Invalid value: "0": must be a number greater than 0: a whole one such as 12, or a decimal in quotes such as "0.5"`},
	},
	{
		name:    "the greatest rate of a search",
		valid:   "{steps: null, search: {rate: {min: '0.1', max: '0.2'}, duration: 1s}}",
		invalid: "{steps: null, search: {rate: {min: '0.1', max: '1e3'}, duration: 1s}}",
		want:    []string{`spec.search.rate.max: Invalid value: "1e3": must be a number greater than 0: a whole one such as 12, or a decimal in quotes such as "0.5"`},
	},
	{
		name:    "the rate per user of a search",
		valid:   "{steps: null, search: {rate: {min: '0.1', max: '0.2'}, duration: 1s}}",
		invalid: "{steps: null, search: {users: {min: 1, max: 100}, ratePerUser: '0', duration: 1s}}",
		want:    []string{`spec.search.ratePerUser: Invalid value: "0": must be a number greater than 0: a whole one such as 12, or a decimal in quotes such as "0.5"`},
	},
	{
		name:    "a search that goes on without a worker",
		valid:   "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s}, worker: {onLoss: Stop}}",
		invalid: "{steps: null, search: {rate: {min: 1, max: 100}, duration: 1s}, worker: {onLoss: Continue}}",
		want:    []string{"spec.worker.onLoss: Forbidden: worker.onLoss must not be Continue with search, which finds nothing by less load than it asks for"},
	},
}
