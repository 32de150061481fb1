package plan_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const aLog = "from: {volume: {claim: loadtest-logs, path: access.log}}, duration: 10m"

// A replay is one step, of which only the workers know how many requests are due.
func TestAReplayIsOneStep(t *testing.T) {
	s := yamlSpec(t, `{steps: [], parallelism: 2, requests: [{name: a, http: {}}, {name: b, http: {}}, {name: c, http: {}}], replay: {`+aLog+`,
  speed: 2, start: "2026-11-28T12:00:00Z", methods: [GET, POST], maxRate: 500, fields: "time=t,request=r", routes: [{path: ^/b, host: shop, to: /c, request: b}, {request: a}]}}`)
	steps := plan.Steps(s)
	if len(steps) != 1 || steps[0].Name != "replay" || steps[0].Load.Speed.String() != "2" || steps[0].TimeLimit.Duration < 10*time.Minute {
		t.Fatalf("the steps are %+v", steps)
	}
	load := &steps[0].Load
	if n, what := plan.Due(load); n != 0 || what != "requests" {
		t.Errorf("%d %s are due", n, what)
	}
	if _, known := plan.DueOn(load, 0, 2); known {
		t.Error("the requests of a worker are known")
	}
	for i, want := range []bool{true, true, false} {
		if got := plan.IsSent(s, &s.Requests[i]); got != want {
			t.Errorf("request %d is sent: %v", i, got)
		}
	}
	for worker, a := range assignments(t, s) {
		want := &workerv1.Replay{
			File: "/var/run/loadtest-volumes/claims/loadtest-logs/access.log", Fields: "time=t,request=r", StartUnixNanos: 1795867200 * 1e9,
			SpeedMicros: 2e6, Methods: []string{"GET", "POST"}, MaxRateMicros: 500e6,
			Routes: []*workerv1.Route{{Path: "^/b", Host: "shop", To: "/c", Request: 1}, {Request: 0}},
		}
		same.As(t, "the log", protojson.Format(want), protojson.Format(a.GetReplay()))
		if step := a.GetSteps()[0]; step.GetRecorded().GetDurationNanos() != int64(10*time.Minute) || step.GetTotal() != 0 || step.GetShare().GetFirst() != int64(worker) {
			t.Errorf("worker %d gets %v", worker, step)
		}
	}
	if f := plan.Files(s); len(f) != 1 || f[0].Kind != plan.InClaim {
		t.Errorf("the files are %v", f)
	}
}

func TestAReplayHasDefaults(t *testing.T) {
	s := yamlSpec(t, "{steps: [], requests: [{name: a, http: {}}], replay: {"+aLog+"}}")
	all := assignments(t, s)
	same.As(t, "workers", 1, len(all))
	want := &workerv1.Replay{File: "/var/run/loadtest-volumes/claims/loadtest-logs/access.log", SpeedMicros: 1e6, MaxRateMicros: 2500e6, Methods: []string{"GET", "HEAD"}, Routes: []*workerv1.Route{{}}}
	same.As(t, "the log", protojson.Format(want), protojson.Format(all[0].GetReplay()))
	rate := v1beta1.NewDecimal("5001")
	if s.Replay.MaxRate = &rate; plan.Workers(s) != 3 {
		t.Errorf("%d workers for 5001 requests per second, want 3", plan.Workers(s))
	}
}

// Objects that were stored before a rule, and files, do not pass the API server.
func TestReplaysThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ spec, want string }{
		"beside steps":           {`{steps: [{name: a, rate: 1, duration: 1s}], replay: {` + aLog + `}}`, "spec: exactly one of ladder, steps, search, replay and loads must be set."},
		"with journeys":          {`{steps: [], journeys: [{name: j, steps: [{request: home}]}], replay: {` + aLog + `}}`, "spec.journeys: must not be set with replay, whose log says what is sent."},
		"by vegeta":              {`{steps: [], worker: {driver: Vegeta}, replay: {` + aLog + `}}`, "spec.worker.driver: must not be Vegeta with replay; use driver Auto."},
		"of no time":             {`{steps: [], replay: {from: {configMap: {name: a, key: b}}, duration: 0s}}`, "spec.replay.duration: must be a time from 1s to 24h, such as 10m."},
		"from before all logs":   {`{steps: [], replay: {` + aLog + `, start: "1969-12-31T00:00:00Z"}}`, "spec.replay.start: must be between 1970 and 2261, as the times of logs are."},
		"at no speed":            {`{steps: [], replay: {` + aLog + `, speed: 0}}`, "spec.replay.speed: must be greater than 0."},
		"without routes":         {`{steps: [], requests: [{name: a, http: {}}, {name: b, http: {}}], replay: {` + aLog + `}}`, "spec.replay.routes: must be set with more than one request, such as [{path: ^/items/, request: item}, {request: rest}]."},
		"with unknown fields":    {`{steps: [], replay: {` + aLog + `, fields: "when=a"}}`, `spec.replay.fields: "when=a" is not KIND=FIELD, with a kind of time, method, path, request, query, status, host, scheme, duration.`},
		"by no expression":       {`{steps: [], replay: {` + aLog + `, routes: [{path: "(", request: home}]}}`, "spec.replay.routes[0].path: must be a regular expression (RE2), such as ^/items/: error parsing regexp: missing closing ): `(`."},
		"to a path from none":    {`{steps: [], replay: {` + aLog + `, routes: [{to: /a, request: home}]}}`, "spec.replay.routes[0].to: must not be set without path, whose match it replaces."},
		"to no request":          {`{steps: [], replay: {` + aLog + `, routes: [{request: buy}]}}`, `spec.replay.routes[0].request: spec.requests has no request named "buy".`},
		"as a targets file":      {`{steps: [], requests: [{name: a, http: {targets: {from: {configMap: {name: a, key: b}}}}}], replay: {` + aLog + `}}`, "spec.requests[0]: must have http without targets, since spec.replay sends lines of a log as it."},
		"as a call":              {`{steps: [], requests: [{name: a, grpc: {method: a.B/C}}], replay: {` + aLog + `}}`, "spec.requests[0]: must have http without targets, since spec.replay sends lines of a log as it."},
		"which is none, at last": {`{steps: [], replay: {` + aLog + `}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "refusal", tt.want, refusalOf(loadTest(yamlSpec(t, tt.spec)), policy.Rules{}))
		})
	}
}

// The rate of a log is not known before it runs: its bound is what is limited.
func TestARateLimitHoldsForAReplay(t *testing.T) {
	for maxRate, want := range map[string]string{
		"":    "spec.replay.maxRate: 2500 requests per second are more than a LoadTest of namespace demo may have; at most 500 are accepted.",
		"501": "spec.replay.maxRate: 501 requests per second are more than a LoadTest of namespace demo may have; at most 500 are accepted.",
		"500": "",
	} {
		s := yamlSpec(t, "{steps: [], requests: [{name: a, http: {}}], replay: {"+aLog+"}}")
		if maxRate != "" {
			rate := v1beta1.NewDecimal(maxRate)
			s.Replay.MaxRate = &rate
		}
		same.As(t, "refusal of maxRate "+maxRate, want, refusalOf(loadTest(s), limited()))
	}
}
