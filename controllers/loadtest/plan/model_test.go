package plan_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func configMap(name v1beta1.ObjectName, key string) *v1beta1.Content {
	return &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: name, Key: key}}
}

func secret(name v1beta1.ObjectName, key string) *v1beta1.Content {
	return &v1beta1.Content{Secret: &v1beta1.KeyReference{Name: name, Key: key}}
}

func secretHeader(name string, object v1beta1.ObjectName, key string) v1beta1.Header {
	return v1beta1.Header{Name: name, ValueFrom: &v1beta1.HeaderSource{Prefix: "Bearer ", Secret: v1beta1.KeyReference{Name: object, Key: key}}}
}

// fullModel uses everything that a request can be made of.
func fullModel() *v1beta1.LoadTestSpec {
	return &v1beta1.LoadTestSpec{
		Target: v1beta1.Target{
			URL: "https://shortener", Protocol: v1beta1.ProtocolHTTP2, DisableKeepAlive: true,
			Proxy:   &v1beta1.Proxy{URL: "http://proxy:3128/"},
			Headers: []v1beta1.Header{secretHeader("Authorization", "api", "token")},
			TLS: &v1beta1.TLS{
				CA: configMap("trust", "ca.crt"), ClientCertificate: &v1beta1.ClientCertificate{SecretName: "client"},
				ServerName: "shortener.example.com",
			},
			Trace: &v1beta1.Trace{Sampled: "0.5%"},
		},
		Requests: []v1beta1.Request{
			{
				Name: "create", HTTP: &v1beta1.HTTPRequest{Method: "POST", Path: "/urls", BodyFrom: secret("bodies", "create.json"), Headers: []v1beta1.Header{secretHeader("X-Tenant", "api", "tenant")}}, Items: 20,
				Expect: &v1beta1.Expectation{
					JSON:     []v1beta1.ExpectedValue{{Path: ".codes[0]", Equals: v1beta1.JSONText("abc")}},
					MaxBytes: ptr(int64(4096)),
				},
			},
			{Name: "follow", HTTP: &v1beta1.HTTPRequest{Path: "/${code}", BodyFrom: configMap("bodies", "follow.txt")}, Expect: &v1beta1.Expectation{Status: []int32{302}}},
		},
		Preflight: []v1beta1.Preflight{
			{
				HTTP:   &v1beta1.Query{Path: "/version", Headers: []v1beta1.Header{secretHeader("X-Admin", "admin", "token")}},
				Expect: &v1beta1.Expectation{Status: []int32{200}, JSON: []v1beta1.ExpectedValue{{Path: ".api", Equals: v1beta1.JSONText("seed-000")}}, MaxBytes: ptr(int64(512))},
			},
			{Name: "healthy", HTTP: &v1beta1.Query{Method: "HEAD", Path: "/health", Headers: []v1beta1.Header{{Name: "authorization", Value: ptr("none")}}}},
		},
		Data: []v1beta1.Data{
			{Name: "urls", From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "rows", Key: "urls.csv"}}, Format: v1beta1.DataFormatCSV},
			{Name: "users", From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "rows", Key: "users.jsonl"}}, Format: v1beta1.DataFormatJSONLines, Choice: v1beta1.DataChoiceZipf},
			{Name: "large", From: *volume("large", "a/rows.csv"), Format: v1beta1.DataFormatCSV},
		},
		Setup: &v1beta1.Setup{
			Fill:   &v1beta1.Fill{Request: "create", Count: 11, Capture: map[string]v1beta1.JSONPath{"code": ".shortCode"}, Choice: v1beta1.DataChoiceSequential},
			WarmUp: &v1beta1.WarmUp{Request: "follow", Duration: *duration(5 * time.Second)},
		},
		RandomSeed: ptr(int64(7)),
		Steps: []v1beta1.Step{
			{Name: "10/s to 30/s", Rate: decimal("10"), RampTo: decimal("30"), Duration: duration(3 * time.Second), WarmUp: duration(time.Second)},
			{Name: "10/s", Rate: decimal("10"), Arrivals: v1beta1.ArrivalsPoisson, Duration: duration(3 * time.Second)},
			{Name: "5 users", Users: ptr(int32(5)), Duration: duration(time.Second), WarmUp: duration(2 * time.Second)},
		},
		Parallelism: ptr(int32(4)),
	}
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
			{
				Name: "healthy", Type: "Read", Weight: 1, Method: "HEAD", Path: "/health",
				Headers: []*workerv1.Header{{Name: "authorization", Value: "none"}},
			},
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
			{
				Index: 0, Total: 60, RemainingNanos: 280_000_000_000, Share: &workerv1.Share{First: 3, Stride: 4, Count: 15}, WarmUpNanos: 1_000_000_000,
				Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 10_000_000, EndRateMicros: 30_000_000, DurationNanos: 3_000_000_000}},
			},
			{
				Index: 1, RemainingNanos: 186_000_000_000, Share: &workerv1.Share{First: 3, Stride: 4},
				Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 10_000_000, DurationNanos: 3_000_000_000, Poisson: true}},
			},
			{
				Index: 2, Total: 5, RemainingNanos: 93_000_000_000, Share: &workerv1.Share{First: 3, Stride: 4, Count: 1}, WarmUpNanos: 2_000_000_000,
				Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 1_000_000_000}},
			},
		},
	}
	same.As(t, "assignment of worker 3", want, assignments(t, fullModel())[3], protocmp.Transform())
}

func TestFiles(t *testing.T) {
	spec := fullModel()
	// Named twice, mounted once.
	spec.Requests = append(spec.Requests, v1beta1.Request{Name: "home", HTTP: &v1beta1.HTTPRequest{BodyFrom: configMap("trust", "ca.crt"), Headers: spec.Target.Headers}})
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
	if got := plan.Files(oneUser()); len(got) != 0 {
		t.Errorf("a spec that names no file has %v", got)
	}
	if got := plan.Files(emptySources()); len(got) != 0 {
		t.Errorf("an empty source is the file %v", got)
	}
}

// emptySources has sources that name nothing, as only a LoadTest can have them that has
// not passed through the API server.
func emptySources() *v1beta1.LoadTestSpec {
	s := oneUser()
	s.Requests[0].HTTP.BodyFrom = &v1beta1.Content{}
	s.Target.TLS = &v1beta1.TLS{CA: &v1beta1.Content{}}
	return s
}

// What is mounted is what is named: one more would be a secret in the wrong
// place, one less a worker that does not start.
func TestAssignmentsNameTheFilesThatAreMounted(t *testing.T) {
	spec := fullModel()
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

func TestHeadersOfARequestReplaceThoseFromSecrets(t *testing.T) {
	spec := oneUser()
	spec.Target.Headers = []v1beta1.Header{secretHeader("Authorization", "api", "token")}
	spec.Requests[0].HTTP.Headers = []v1beta1.Header{{Name: "authorization", Value: ptr("")}}
	want := []*workerv1.Header{{Name: "authorization"}}
	same.As(t, "headers", want, assignments(t, spec)[0].GetRequests()[0].GetHeaders(), protocmp.Transform())
}

// Only a LoadTest that has not passed through the API server has a header of nothing.
func TestAHeaderWithoutAValueIsEmpty(t *testing.T) {
	spec := oneUser()
	spec.Requests[0].HTTP.Headers = []v1beta1.Header{{Name: "X-Empty"}}
	want := []*workerv1.Header{{Name: "X-Empty"}}
	same.As(t, "headers", want, assignments(t, spec)[0].GetRequests()[0].GetHeaders(), protocmp.Transform())
}

func TestTLSWithoutFiles(t *testing.T) {
	spec := oneUser()
	spec.Target.TLS = &v1beta1.TLS{InsecureSkipVerify: true, Resume: true}
	want := &workerv1.TLS{InsecureSkipVerify: true, Resume: true}
	same.As(t, "TLS", want, assignments(t, spec)[0].GetTarget().GetTls(), protocmp.Transform())
}

// A setup has a fill, a warm-up or both.
func TestSetupOfOnePart(t *testing.T) {
	named := func(setup *v1beta1.Setup) *v1beta1.LoadTestSpec {
		spec := oneUser()
		spec.Requests = []v1beta1.Request{{Name: "create"}, {Name: "follow"}}
		spec.Setup = setup
		return spec
	}
	tests := map[string]struct {
		setup *v1beta1.Setup
		want  *workerv1.Setup
	}{
		"a fill": {
			&v1beta1.Setup{Fill: &v1beta1.Fill{Request: "follow", Count: 3}},
			&workerv1.Setup{Fill: &workerv1.Fill{Request: 1, Share: &workerv1.Share{Stride: 1, Count: 3}, Choice: workerv1.DataChoice_DATA_CHOICE_UNIFORM}},
		},
		"a warm-up": {
			&v1beta1.Setup{WarmUp: &v1beta1.WarmUp{Request: "follow", Duration: *duration(time.Second)}},
			&workerv1.Setup{WarmUp: &workerv1.WarmUp{Request: 1, DurationNanos: 1_000_000_000}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "setup", tc.want, assignments(t, named(tc.setup))[0].GetSetup(), protocmp.Transform())
		})
	}
}

// Every request of the fill is sent by one worker.
func TestSharesOfTheFillAddUp(t *testing.T) {
	var sum int64
	for _, a := range assignments(t, fullModel()) {
		sum += a.GetSetup().GetFill().GetShare().GetCount()
	}
	same.As(t, "requests that the workers send together", 11, sum)
}

func TestRequestItems(t *testing.T) {
	same.As(t, "items", []int64{20, 1}, plan.RequestItems(fullModel()))
}
