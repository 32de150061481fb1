package v1beta1_test

// replayed is a replay that is accepted, but for its end.
const replayed = "replay: {from: {volume: {claim: loadtest-logs, path: access.log}}, duration: 10m"

// replayValidations are about the log that is replayed.
var replayValidations = []validation{
	{name: "a replay beside steps", valid: "{steps: null, " + replayed + "}}", invalid: "{" + replayed + "}}",
		want: []string{"spec: Invalid value: exactly one of ladder, steps, search, replay and loads must be set"}},
	{name: "fields of a log", valid: "{steps: null, " + replayed + ", fields: 'time=ts,request=line'}}",
		invalid: "{steps: null, " + replayed + ", fields: 'ts'}}",
		want:    []string{"spec.replay.fields: Invalid value: fields must be KIND=FIELD with commas between, such as time=ts,method=verb,path=url"}},
	{name: "the duration of a replay", valid: "{steps: null, " + replayed + ", speed: '0.5', start: '2026-11-28T12:00:00Z', methods: [GET, POST], maxRate: 1000}}",
		invalid: "{steps: null, replay: {from: {configMap: {name: logs, key: access.log}}, duration: 25h}}",
		want:    []string{`spec.replay.duration: Invalid value: "25h": duration must be a time from 1s to 24h, such as 10m`}},
	{name: "the speed of a replay", valid: "{steps: null, " + replayed + ", speed: '0.5'}}", invalid: "{steps: null, " + replayed + ", speed: 0}}",
		want: []string{`spec.replay.speed: Invalid value: 0: must be a number from 0.000001 to 999999999, of up to 6 decimals: 12, or in quotes "0.5"`}},
	{name: "the rate of a replay", valid: "{steps: null, " + replayed + ", maxRate: '0.5'}}", invalid: "{steps: null, " + replayed + ", maxRate: '0'}}",
		want: []string{`spec.replay.maxRate: Invalid value: "0": must be a number from 0.000001 to 999999999, of up to 6 decimals: 12, or in quotes "0.5"`}},
	{name: "where a log is", valid: "{steps: null, replay: {from: {secret: {name: logs, key: access.log}}, duration: 1s}}",
		invalid: "{steps: null, replay: {from: {}, duration: 1s}}",
		want:    []string{"spec.replay.from: Invalid value: exactly one of configMap, secret and volume must be set, such as configMap: {name: rows, key: users.csv}"}},
	{name: "a route to no request", valid: "{steps: null, requests: [{name: a, http: {}}, {name: b, http: {}}], " + replayed + ", routes: [{path: ^/a, request: a}, {request: b}]}}",
		invalid: "{steps: null, requests: [{name: a, http: {}}, {name: b, http: {}}], " + replayed + ", routes: [{path: ^/a, request: a}, {request: c}]}}",
		want:    []string{"spec.replay.routes: Invalid value: routes must name requests with http of spec.requests; without routes there must be exactly one request"}},
	{name: "no routes to several requests", valid: "{steps: null, " + replayed + "}}",
		invalid: "{steps: null, requests: [{name: a, http: {}}, {name: b, http: {}}], " + replayed + "}}",
		want:    []string{"spec.replay.routes: Invalid value: routes must name requests with http of spec.requests; without routes there must be exactly one request"}},
	{name: "journeys with replay", valid: "{steps: null, " + replayed + "}}",
		invalid: "{steps: null, requests: [{name: a, http: {}}], journeys: [{name: j, steps: [{request: a}]}], " + replayed + "}}",
		want:    []string{"spec.journeys: Forbidden: journeys must not be set with replay, whose log says what is sent"}},
	{name: "replay with vegeta", valid: "{steps: null, worker: {driver: Auto}, " + replayed + "}}",
		invalid: "{steps: null, worker: {driver: Vegeta}, " + replayed + "}}",
		want:    []string{"spec.worker.driver: Forbidden: driver Vegeta must not be set with replay; use driver Auto"}},
}
