package plan_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A worker would refuse them once it has started.
func TestTextsThatCannotBeSentAreRefused(t *testing.T) {
	header := func(name, value string) []v1beta1.Header { return []v1beta1.Header{{Name: name, Value: &value}} }
	for want, edit := range map[string]func(*v1beta1.LoadTestSpec){
		"": func(s *v1beta1.LoadTestSpec) {
			s.Requests[0].HTTP = &v1beta1.HTTPRequest{Path: "/é|%23?a=[${user}]", Headers: header("Connection", "\ta é")}
		},
		"spec.requests[0].http.path: the character at 2 must be percent-encoded, as %23.": func(s *v1beta1.LoadTestSpec) {
			s.Requests[0].HTTP.Path = "/a#b"
		},
		"spec.requests[0].webSocket.path: the character at 1 must be percent-encoded, as %09.": func(s *v1beta1.LoadTestSpec) {
			s.Requests[0] = v1beta1.Request{Name: "a", WebSocket: &v1beta1.WebSocket{Path: "/\t", Until: "a"}}
		},
		"spec.requests[0].http.headers[0].name: content-length follows from the body; leave it out.": func(s *v1beta1.LoadTestSpec) {
			s.Requests[0].HTTP.Headers = header("content-length", "5")
		},
		"spec.target.headers[0].value: must not have a control character.": func(s *v1beta1.LoadTestSpec) {
			s.Target.Headers = header("A", "a\x01")
		},
		"spec.target.headers[0].valueFrom.prefix: must not have a control character.": func(s *v1beta1.LoadTestSpec) {
			s.Target.Headers = []v1beta1.Header{{Name: "A", ValueFrom: &v1beta1.HeaderSource{Prefix: "\x7f"}}}
		},
		"spec.preflight[0].http.headers[0].name: Transfer-Encoding follows from the body; leave it out.": func(s *v1beta1.LoadTestSpec) {
			s.Preflight = []v1beta1.Preflight{{HTTP: &v1beta1.Query{Headers: header("Transfer-Encoding", "chunked")}}}
		},
		"spec.audits[0].stored.read.http.path: the character at 1 must be percent-encoded, as %7F.": func(s *v1beta1.LoadTestSpec) {
			s.Audits = []v1beta1.Audit{{Stored: &v1beta1.Stored{Read: v1beta1.Reading{HTTP: &v1beta1.Query{Path: "/\x7f"}}}}}
		},
		"spec.requests[0].grpc.metadata[0].value: must not have a control character.": func(s *v1beta1.LoadTestSpec) {
			s.Target.Protocol = v1beta1.ProtocolHTTP2
			s.Requests[0] = v1beta1.Request{Name: "a", GRPC: &v1beta1.Call{Method: "a.B/C", Metadata: header("a", "\x00")}}
		},
	} {
		s := oneUser()
		edit(s)
		same.As(t, "refusal", want, refusalOf(loadTest(s), policy.Everything()))
	}
}
