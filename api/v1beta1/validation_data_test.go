package v1beta1_test

// dataValidations are about what requests are made of, and what comes before.
var dataValidations = []validation{
	// Tables.
	{name: "a table twice", valid: "{data: [{name: a, from: {configMap: {name: rows, key: a.csv}}, format: CSV}, {name: b, from: {configMap: {name: rows, key: a.csv}}, format: CSV}]}",
		invalid: "{data: [{name: a, from: {configMap: {name: rows, key: a.csv}}, format: CSV}, {name: a, from: {configMap: {name: rows, key: b.csv}}, format: CSV}]}",
		want:    []string{`spec.data[1]: Duplicate value: {"name":"a"}`}},
	{name: "a table of nowhere", valid: "{data: [{name: a, from: {configMap: {name: rows, key: a.jsonl}}, format: JSONLines}]}",
		invalid: "{data: [{name: a, format: JSONLines}]}",
		want:    []string{"spec.data[0].from: Required value"}},
	{name: "a table of two places", valid: "{data: [{name: a, from: {secret: {name: rows, key: a.csv}}, format: CSV}]}",
		invalid: "{data: [{name: a, from: {configMap: {name: rows, key: a.csv}, secret: {name: rows, key: a.csv}}, format: CSV}]}",
		want:    []string{"spec.data[0].from: Invalid value: exactly one of configMap, secret and volume must be set, such as configMap: {name: rows, key: users.csv}"}},
	{name: "a table of a ConfigMap and a volume", valid: "{data: [{name: a, from: {volume: {claim: loadtest-rows, path: a.csv}}, format: CSV}]}",
		invalid: "{data: [{name: a, from: {configMap: {name: rows, key: a.csv}, volume: {claim: loadtest-rows, path: a.csv}}, format: CSV}]}",
		want:    []string{"spec.data[0].from: Invalid value: exactly one of configMap, secret and volume must be set, such as configMap: {name: rows, key: users.csv}"}},
	{name: "a path out of a volume", valid: "{data: [{name: a, from: {volume: {claim: loadtest-rows, path: a..b/.c/d.csv}}, format: CSV}]}",
		invalid: "{data: [{name: a, from: {volume: {claim: loadtest-rows, path: a/../../b}}, format: CSV}]}",
		want:    []string{badVolumePath("a/../../b")}},
	{name: "an absolute path in a volume", valid: "{data: [{name: a, from: {volume: {claim: loadtest-rows, path: a}}, format: CSV}]}",
		invalid: "{data: [{name: a, from: {volume: {claim: loadtest-rows, path: /a}}, format: CSV}]}",
		want:    []string{badVolumePath("/a")}},
	{name: "format of a table", valid: "{data: [{name: a, from: {configMap: {name: rows, key: a}}, format: CSV}]}",
		invalid: "{data: [{name: a, from: {configMap: {name: rows, key: a}}, format: XML}]}",
		want:    []string{`spec.data[0].format: Unsupported value: "XML": supported values: "CSV", "JSONLines"`}},
	{name: "choice of rows", valid: "{data: [{name: a, from: {configMap: {name: rows, key: a}}, format: CSV, choice: Zipf}]}",
		invalid: "{data: [{name: a, from: {configMap: {name: rows, key: a}}, format: CSV, choice: Random}]}",
		want:    []string{`spec.data[0].choice: Unsupported value: "Random": supported values: "Uniform", "Sequential", "Zipf"`}},
	// Setup.
	{name: "fill of a request that is not there", valid: "{requests: [{name: create, http: {}}, {name: home, http: {}}], setup: {fill: {request: create, count: 5000, capture: {code: .shortCode}, choice: Sequential}}}",
		invalid: "{requests: [{name: create, http: {}}, {name: home, http: {}}], setup: {fill: {request: follow, count: 5000}}}",
		want:    []string{"spec.setup.fill.request: Invalid value: request must be the name of one of spec.requests"}},
	{name: "fill of none", valid: "{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1}}}",
		invalid: "{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 0}}}",
		want:    []string{"spec.setup.fill.count: Invalid value: 0: spec.setup.fill.count in body should be greater than or equal to 1"}},
	{name: "a captured column that is no name", valid: "{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1, capture: {short_code2: '.codes[0]'}}}}",
		invalid: "{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1, capture: {short-code: .code}}}}",
		want:    []string{noColumn}},
	{name: "a captured column that stands for something else", valid: "{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1, capture: {users: .user}}}}",
		invalid: "{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1, capture: {user: .user}}}}",
		want:    []string{noColumn}},
	{name: "path of a captured column", valid: "{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1, capture: {code: .code}}}}",
		invalid: "{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1, capture: {code: $.code}}}}",
		want:    []string{`spec.setup.fill.capture.code: Invalid value: "$.code": spec.setup.fill.capture.code in body should match '^([.][^.\[\]\s]+|\[[0-9]{1,9}\])+$'`}},
	{name: "warm-up of a request that is not there", valid: "{requests: [{name: follow, http: {}}], setup: {warmUp: {request: follow, duration: 1h}}}",
		invalid: "{requests: [{name: home, http: {path: /follow}}], setup: {warmUp: {request: follow, duration: 5s}}}",
		want:    []string{"spec.setup.warmUp.request: Invalid value: request must be the name of one of spec.requests"}},
	// Chance.
	{name: "seed of everything random", valid: "{randomSeed: 9007199254740991}",
		invalid: "{randomSeed: -1}",
		want:    []string{"spec.randomSeed: Invalid value: -1: spec.randomSeed in body should be greater than or equal to 0"}},
}

const noColumn = "spec.setup.fill.capture: Invalid value: capture must have names of columns such as code, but not user, seq, worker, uuid or rand"

func badVolumePath(path string) string {
	return `spec.data[0].from.volume.path: Invalid value: "` + path + `": spec.data[0].from.volume.path in body should match '^[-_a-zA-Z0-9.]*[-_a-zA-Z0-9](/[-_a-zA-Z0-9.]*[-_a-zA-Z0-9])*$'`
}
