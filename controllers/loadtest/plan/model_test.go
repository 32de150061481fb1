package plan_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// fullModel uses everything that a request can be made of.
func fullModel(t *testing.T) *v1beta1.LoadTestSpec {
	t.Helper()
	return yamlSpec(t, `
target:
  {url: https://shortener/, protocol: HTTP/2, disableKeepAlive: true, proxy: {url: "http://proxy:3128/"}, trace: {sampled: 0.5%},
  headers: [{name: Authorization, valueFrom: {prefix: "Bearer ", secret: {name: api, key: token}}}],
  tls: {ca: {configMap: {name: trust, key: ca.crt}}, clientCertificate: {secretName: client}, serverName: shortener.example.com}}
requests:
- {name: create, items: 20, expect: {json: [{path: ".codes[0]", equals: abc}], maxBytes: 4096}, http: {method: POST, path: /urls,
  bodyFrom: {secret: {name: bodies, key: create.json}}, headers: [{name: X-Tenant, valueFrom: {prefix: "Bearer ", secret: {name: api, key: tenant}}}]}}
- {name: follow, http: {path: "/${code}", bodyFrom: {configMap: {name: bodies, key: follow.txt}}}, expect: {status: [302]}}
preflight:
- http: {path: /version, headers: [{name: X-Admin, valueFrom: {prefix: "Bearer ", secret: {name: admin, key: token}}}]}
  expect: {status: [200], json: [{path: .api, equals: seed-000}], maxBytes: 512}
- {name: healthy, http: {method: HEAD, path: /health, headers: [{name: authorization, value: none}]}}
data:
- {name: urls, from: {configMap: {name: rows, key: urls.csv}}, format: CSV}
- {name: users, from: {configMap: {name: rows, key: users.jsonl}}, format: JSONLines, choice: Zipf}
- {name: large, from: {volume: {claim: large, path: a/rows.csv}}, format: CSV}
setup: {fill: {request: create, count: 11, capture: {code: .shortCode}, choice: Sequential}, warmUp: {request: follow, duration: 5s}}
randomSeed: 7
steps:
- {name: 10/s to 30/s, rate: 10, rampTo: 30, duration: 3s, warmUp: 1s}
- {name: 10/s, rate: 10, arrivals: Poisson, duration: 3s}
- {name: 5 users, users: 5, duration: 1s, warmUp: 2s}
parallelism: 4`)
}

func TestAssignmentOfTheFullModel(t *testing.T) {
	want := &workerv1.Assignment{
		Run: "5e1f", Worker: 3, Workers: 4, Seed: 7,
		Target: &workerv1.Target{
			Url: "https://shortener", TimeoutNanos: 30_000_000_000, Protocol: workerv1.Protocol_PROTOCOL_HTTP2, DisableKeepAlive: true,
			ProxyUrl: "http://proxy:3128", TraceSampled: 500_000,
			Tls: &workerv1.TLS{
				CaFile:   "/var/run/loadtest/configmaps/trust/ca.crt",
				CertFile: "/var/run/loadtest/secrets/client/tls.crt", KeyFile: "/var/run/loadtest/secrets/client/tls.key",
				ServerName: "shortener.example.com",
			},
		},
		Requests: []*workerv1.Request{
			{
				Name: "create", Type: "Write", Weight: 1, Method: "POST", Path: "/urls",
				BodyFile: "/var/run/loadtest/secrets/bodies/create.json",
				Headers: []*workerv1.Header{
					{Name: "Authorization", Value: "Bearer ", ValueFile: "/var/run/loadtest/secrets/api/token"},
					{Name: "X-Tenant", Value: "Bearer ", ValueFile: "/var/run/loadtest/secrets/api/tenant"},
				},
				ExpectedJson: []*workerv1.ExpectedValue{{Path: ".codes[0]", Equals: "abc"}}, MaxBodyBytes: 4096,
			},
			{
				Name: "follow", Type: "Read", Weight: 1, Method: "GET", Path: "/${code}",
				BodyFile:       "/var/run/loadtest/configmaps/bodies/follow.txt",
				Headers:        []*workerv1.Header{{Name: "Authorization", Value: "Bearer ", ValueFile: "/var/run/loadtest/secrets/api/token"}},
				ExpectedStatus: []int32{302},
			},
		},
		Preflight: []*workerv1.Request{
			{
				Name: "GET /version", Type: "Read", Weight: 1, Method: "GET", Path: "/version",
				Headers: []*workerv1.Header{
					{Name: "Authorization", Value: "Bearer ", ValueFile: "/var/run/loadtest/secrets/api/token"},
					{Name: "X-Admin", Value: "Bearer ", ValueFile: "/var/run/loadtest/secrets/admin/token"},
				},
				ExpectedStatus: []int32{200}, ExpectedJson: []*workerv1.ExpectedValue{{Path: ".api", Equals: "seed-000"}}, MaxBodyBytes: 512,
			},
			{Name: "healthy", Type: "Read", Weight: 1, Method: "HEAD", Path: "/health", Headers: []*workerv1.Header{{Name: "authorization", Value: "none"}}},
		},
		Data: []*workerv1.Data{
			{Name: "urls", File: "/var/run/loadtest/configmaps/rows/urls.csv", Format: workerv1.DataFormat_DATA_FORMAT_CSV, Choice: workerv1.DataChoice_DATA_CHOICE_UNIFORM},
			{Name: "users", File: "/var/run/loadtest/configmaps/rows/users.jsonl", Format: workerv1.DataFormat_DATA_FORMAT_JSON_LINES, Choice: workerv1.DataChoice_DATA_CHOICE_ZIPF},
			{Name: "large", File: "/var/run/loadtest-volumes/claims/large/a/rows.csv", Format: workerv1.DataFormat_DATA_FORMAT_CSV, Choice: workerv1.DataChoice_DATA_CHOICE_UNIFORM},
		},
		Setup: &workerv1.Setup{
			Fill: &workerv1.Fill{
				Request: 0, Share: &workerv1.Share{First: 3, Stride: 4, Count: 2},
				Capture: map[string]string{"code": ".shortCode"}, Choice: workerv1.DataChoice_DATA_CHOICE_SEQUENTIAL,
			},
			WarmUp: &workerv1.WarmUp{Request: 1, DurationNanos: 5_000_000_000},
		},
		Groups: []int32{0, 0},
		Steps: []*workerv1.Step{
			{Index: 0, Total: 60, RemainingNanos: 280_000_000_000, Share: &workerv1.Share{First: 3, Stride: 4, Count: 15}, WarmUpNanos: 1_000_000_000,
				Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 10_000_000, EndRateMicros: 30_000_000, DurationNanos: 3_000_000_000}}},
			{Index: 1, RemainingNanos: 186_000_000_000, Share: &workerv1.Share{First: 3, Stride: 4},
				Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 10_000_000, DurationNanos: 3_000_000_000, Poisson: true}}},
			{Index: 2, Total: 5, RemainingNanos: 93_000_000_000, Share: &workerv1.Share{First: 3, Stride: 4, Count: 1}, WarmUpNanos: 2_000_000_000,
				Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 1_000_000_000}}},
		},
	}
	same.As(t, "assignment of worker 3", want, assignments(t, fullModel(t))[3], protocmp.Transform())
}

func TestFiles(t *testing.T) {
	spec := fullModel(t)
	// Named twice, mounted once.
	spec.Requests = append(spec.Requests, v1beta1.Request{Name: "home", HTTP: &v1beta1.HTTPRequest{BodyFrom: spec.Target.TLS.CA, Headers: spec.Target.Headers}})
	want := []plan.File{
		{Kind: plan.InClaim, Name: "large", Key: "a/rows.csv"},
		{Kind: plan.InConfigMap, Name: "bodies", Key: "follow.txt"},
		{Kind: plan.InConfigMap, Name: "rows", Key: "urls.csv"},
		{Kind: plan.InConfigMap, Name: "rows", Key: "users.jsonl"},
		{Kind: plan.InConfigMap, Name: "trust", Key: "ca.crt"},
		{Kind: plan.InSecret, Name: "admin", Key: "token"},
		{Kind: plan.InSecret, Name: "api", Key: "tenant"},
		{Kind: plan.InSecret, Name: "api", Key: "token"},
		{Kind: plan.InSecret, Name: "bodies", Key: "create.json"},
		{Kind: plan.InSecret, Name: "client", Key: "tls.crt"},
		{Kind: plan.InSecret, Name: "client", Key: "tls.key"},
	}
	same.As(t, "files", want, plan.Files(spec))
	// Only a LoadTest that has not passed through the API server has sources that name nothing.
	for _, fields := range []string{"{}", "{target: {tls: {ca: {}}}, requests: [{name: a, http: {bodyFrom: {}}}]}"} {
		if got := plan.Files(yamlSpec(t, fields)); len(got) != 0 {
			t.Errorf("%s: the files are %v", fields, got)
		}
	}
}

// What is mounted is what is named: one more would be a secret in the wrong
// place, one less a worker that does not start.
func TestAssignmentsNameTheFilesThatAreMounted(t *testing.T) {
	spec := fullModel(t)
	var mounted []string
	for _, f := range plan.Files(spec) {
		mounted = append(mounted, f.Path())
	}
	a := assignments(t, spec)[0]
	named := []string{a.GetTarget().GetTls().GetCaFile(), a.GetTarget().GetTls().GetCertFile(), a.GetTarget().GetTls().GetKeyFile()}
	for _, r := range slices.Concat(a.GetRequests(), a.GetPreflight()) {
		named = append(named, r.GetBodyFile())
		for _, h := range r.GetHeaders() {
			named = append(named, h.GetValueFile())
		}
	}
	for _, d := range a.GetData() {
		named = append(named, d.GetFile())
	}
	named = slices.DeleteFunc(named, func(f string) bool { return f == "" }) // of what has its text in the spec
	slices.Sort(mounted)
	slices.Sort(named)
	same.As(t, "files that are mounted, and those that are named", mounted, slices.Compact(named))
}

// Headers may be replaced or empty, TLS may have no file, and a setup has a fill, a warm-up or both.
func TestAssignmentOfSingleParts(t *testing.T) {
	a := assignedTo(t, `{target: {url: "http://a", tls: {insecureSkipVerify: true, resume: true}, headers: [{name: Authorization, valueFrom: {secret: {name: api, key: token}}}]},
		requests: [{name: create, http: {headers: [{name: X-Empty}, {name: authorization, value: ""}]}}, {name: follow, http: {}}], setup: {fill: {request: follow, count: 3}}}`)
	same.As(t, "headers", []*workerv1.Header{{Name: "X-Empty"}, {Name: "authorization"}}, a.GetRequests()[0].GetHeaders(), protocmp.Transform())
	same.As(t, "TLS", &workerv1.TLS{InsecureSkipVerify: true, Resume: true}, a.GetTarget().GetTls(), protocmp.Transform())
	fill := &workerv1.Setup{Fill: &workerv1.Fill{Request: 1, Share: &workerv1.Share{Stride: 1, Count: 3}, Choice: workerv1.DataChoice_DATA_CHOICE_UNIFORM}}
	same.As(t, "setup with a fill", fill, a.GetSetup(), protocmp.Transform())
	a = assignedTo(t, "{requests: [{name: create, http: {}}, {name: follow, http: {}}], setup: {warmUp: {request: follow, duration: 1s}}}")
	same.As(t, "setup with a warm-up", &workerv1.Setup{WarmUp: &workerv1.WarmUp{Request: 1, DurationNanos: 1_000_000_000}}, a.GetSetup(), protocmp.Transform())
}

// Every request of the fill is sent by one worker.
func TestSharesOfTheFillAddUp(t *testing.T) {
	var sum int64
	for _, a := range assignments(t, fullModel(t)) {
		sum += a.GetSetup().GetFill().GetShare().GetCount()
	}
	same.As(t, "requests that the workers send together", 11, sum)
	same.As(t, "items", []int64{20, 1}, plan.RequestItems(fullModel(t)))
}
