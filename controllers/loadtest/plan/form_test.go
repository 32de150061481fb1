package plan_test

import (
	"testing"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// upload has the first request send a form with a file.
func upload(s *v1beta1.LoadTestSpec) {
	s.Steps = []v1beta1.Step{{Name: "2 users x 10", Users: ptr(int32(2)), RequestsPerUser: ptr(int32(10))}}
	s.Requests[0].HTTP = &v1beta1.HTTPRequest{
		Method: "POST", Path: "/upload", BodyFrom: &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "files", Key: "a.png"}}, FollowRedirects: 3,
		Form: []v1beta1.FormField{{Name: "csrf", Value: ptr("${uuid}")}, {Name: "file", Filename: "a.png", ContentType: "image/png"}},
	}
}

func TestAFormIsAssigned(t *testing.T) {
	got := assignments(t, spec(upload))[0].GetRequests()[0]
	want := []*workerv1.FormField{{Name: "csrf", Value: "${uuid}"}, {Name: "file", Filename: "a.png", ContentType: "image/png", FromFile: true}}
	same.As(t, "form", want, got.GetForm(), protocmp.Transform())
	if got.GetBodyFile() != "/var/run/loadtest/configmaps/files/a.png" || got.GetFollowRedirects() != 3 {
		t.Errorf("body file %q, %d redirects", got.GetBodyFile(), got.GetFollowRedirects())
	}
}

func TestFormsThatAreNoBodyAreRefused(t *testing.T) {
	for want, edit := range map[string]func(*v1beta1.HTTPRequest){
		"": func(*v1beta1.HTTPRequest) {},
		"spec.requests[0].http.form[1].value: must be set, or bodyFrom, which has the content of the field.":                           func(h *v1beta1.HTTPRequest) { h.BodyFrom = nil },
		"spec.requests[0].http.form[1].filename: must be set of the field that has the content of bodyFrom.":                           func(h *v1beta1.HTTPRequest) { h.Form[1] = v1beta1.FormField{Name: "file"} },
		"spec.requests[0].http.form[0].contentType: must not be set without filename.":                                                 func(h *v1beta1.HTTPRequest) { h.Form[0].ContentType = "text/plain" },
		"spec.requests[0].http.form[1].contentType: must not have a control character.":                                                func(h *v1beta1.HTTPRequest) { h.Form[1].ContentType = "a\r\nb" },
		"spec.requests[0].http.bodyFrom: is the content of the field of the form that has no value; 0 fields have none, and one must.": func(h *v1beta1.HTTPRequest) { h.Form = h.Form[:1] },
		"spec.requests[0].http.bodyFrom: is the content of the field of the form that has no value; 2 fields have none, and one must.": func(h *v1beta1.HTTPRequest) { h.Form = append(h.Form, h.Form[1]) },
		"spec.requests[0].http.method: must be such as POST with form; GET has no body.":                                               func(h *v1beta1.HTTPRequest) { h.Method = "" },
		"spec.requests[0].http.headers: Content-Type follows from form; leave it out.":                                                 func(h *v1beta1.HTTPRequest) { h.Headers = []v1beta1.Header{{Name: "content-type", Value: ptr("a")}} },
	} {
		s := spec(upload)
		edit(s.Requests[0].HTTP)
		same.As(t, "refusal", want, refusalOf(loadTest(s), policy.Everything()))
	}
}

func TestRedirectsThatCannotBeFollowedAreRefused(t *testing.T) {
	for want, edit := range map[string]func(*v1beta1.LoadTestSpec){
		"spec.requests[0].http.followRedirects: must not be set with targets.": func(s *v1beta1.LoadTestSpec) {
			s.Requests[0].HTTP = &v1beta1.HTTPRequest{FollowRedirects: 1, Targets: &v1beta1.Targets{From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "a", Key: "b"}}}}
		},
		"spec.requests[0].http.followRedirects: must not be set with worker.driver Vegeta, which follows none; use driver Auto.": func(s *v1beta1.LoadTestSpec) {
			s.Worker = &v1beta1.Worker{Driver: v1beta1.DriverVegeta}
		},
		"spec.requests[0].http.followRedirects: must not be set of the request of setup.fill, whose redirects are not followed.": func(s *v1beta1.LoadTestSpec) {
			s.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: s.Requests[0].Name, Count: 1}}
		},
	} {
		s := spec(upload)
		edit(s)
		same.As(t, "refusal", want, refusalOf(loadTest(s), policy.Everything()))
	}
}
