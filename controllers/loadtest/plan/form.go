package plan

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// formSize is about how long a form is as it stands in the spec.
func formSize(form []v1beta1.FormField) (n int) {
	for i := range form {
		f := &form[i]
		n += len(f.Name) + len(f.Filename) + 2
		if f.Value != nil {
			n += len(*f.Value)
		}
	}
	return n
}

// checkRedirects refuses redirects of requests that cannot follow any.
func checkRedirects(spec *v1beta1.LoadTestSpec) *Refusal {
	for i := range spec.Requests {
		r := &spec.Requests[i]
		h, field := httpOf(r), fmt.Sprintf("spec.requests[%d].http.followRedirects", i)
		switch {
		case h.FollowRedirects == 0:
		case h.Targets != nil:
			return invalid("%s: must not be set with targets.", field)
		case spec.Worker != nil && spec.Worker.Driver == v1beta1.DriverVegeta:
			return invalid("%s: must not be set with worker.driver Vegeta, which follows none; use driver Auto.", field)
		case spec.Setup != nil && spec.Setup.Fill != nil && spec.Setup.Fill.Request == r.Name:
			return invalid("%s: must not be set of the request of setup.fill, whose redirects are not followed.", field)
		}
	}
	return nil
}

// checkForms refuses forms that are no whole body.
func checkForms(spec *v1beta1.LoadTestSpec) *Refusal {
	for i := range spec.Requests {
		if h := httpOf(&spec.Requests[i]); len(h.Form) > 0 {
			if refusal := checkForm(fmt.Sprintf("spec.requests[%d].http", i), &h); refusal != nil {
				return refusal
			}
		}
	}
	return nil
}

func checkForm(field string, h *v1beta1.HTTPRequest) *Refusal {
	files := 0
	for i := range h.Form {
		f, at := &h.Form[i], fmt.Sprintf("%s.form[%d]", field, i)
		switch {
		case f.Value == nil && h.BodyFrom == nil:
			return invalid("%s.value: must be set, or bodyFrom, which has the content of the field.", at)
		case f.Value == nil && f.Filename == "":
			return invalid("%s.filename: must be set of the field that has the content of bodyFrom.", at)
		case f.ContentType != "" && f.Filename == "":
			return invalid("%s.contentType: must not be set without filename.", at)
		case strings.ContainsFunc(f.ContentType, unicode.IsControl):
			return invalid("%s.contentType: must not have a control character.", at)
		}
		if f.Value == nil {
			files++
		}
	}
	switch {
	case h.BodyFrom != nil && files != 1:
		return invalid("%s.bodyFrom: is the content of the field of the form that has no value; %d fields have none, and one must.", field, files)
	case methodOf(h.Method) == "GET" || methodOf(h.Method) == "HEAD":
		return invalid("%s.method: must be such as POST with form; %s has no body.", field, methodOf(h.Method))
	case hasHeader(h.Headers, "Content-Type"):
		return invalid("%s.headers: Content-Type follows from form; leave it out.", field)
	}
	return nil
}
