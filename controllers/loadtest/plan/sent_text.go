package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// sentText is a path or headers that are sent as they are written, with the field and the targets to which they
// are sent.
type sentText struct {
	field, path string
	headers     []v1beta1.Header
	to          []*v1beta1.Target
}

// sentTexts are those of all that a run sends.
func sentTexts(spec *v1beta1.LoadTestSpec) []sentText {
	both := []*v1beta1.Target{&spec.Target}
	list := []sentText{{field: "spec.target.headers", headers: spec.Target.Headers, to: both}}
	if control := spec.Control(); control != nil {
		both = append(both, control)
	}
	add := func(to []*v1beta1.Target, field, path string, headers []v1beta1.Header) {
		list = append(list, sentText{field: field + ".path", path: path}, sentText{field: field + ".headers", headers: headers, to: to})
	}
	query := func(field string, q *v1beta1.Query, c *v1beta1.Call) {
		if q != nil {
			add(both, field+".http", q.Path, q.Headers)
		}
		if c != nil {
			list = append(list, sentText{field: field + ".grpc.metadata", headers: c.Metadata, to: both})
		}
	}
	for i := range spec.OtherTargets {
		other := &spec.OtherTargets[i]
		list = append(list, sentText{field: OtherTargetField(other.Name) + ".headers", headers: other.Headers, to: []*v1beta1.Target{other.Target()}})
	}
	for i := range spec.Requests {
		r, field, to := &spec.Requests[i], fmt.Sprintf("spec.requests[%d]", i), both
		if otherTarget(spec, r) >= 0 {
			to = []*v1beta1.Target{targetOf(spec, r)}
		}
		if h := r.HTTP; h != nil {
			add(to, field+".http", h.Path, h.Headers)
		}
		if s := r.WebSocket; s != nil {
			add(to, field+".webSocket", s.Path, s.Headers)
		}
		query(field, nil, r.GRPC)
	}
	for _, q := range questions(spec) {
		query("spec."+q.field, q.HTTP, q.GRPC)
	}
	for i := range spec.Audits {
		if stored := spec.Audits[i].Stored; stored != nil {
			query(fmt.Sprintf("spec.audits[%d].stored.read", i), stored.Read.HTTP, stored.Read.GRPC)
		}
	}
	return list
}

// checkSentTexts refuses what would end the line of a path or a header, and what the worker writes itself.
func checkSentTexts(spec *v1beta1.LoadTestSpec) *Refusal {
	for _, s := range sentTexts(spec) {
		if at := strings.IndexFunc(s.path, notInPath); at >= 0 {
			return invalid("%s: the character at %d must be percent-encoded, as %%%02X.", s.field, at, s.path[at])
		}
		for i := range s.headers {
			h, field := &s.headers[i], fmt.Sprintf("%s[%d]", s.field, i)
			switch {
			case slices.Contains([]string{"content-length", "transfer-encoding"}, strings.ToLower(h.Name)):
				return invalid("%s.name: %s follows from the body; leave it out.", field, h.Name)
			case h.Value != nil && strings.ContainsFunc(*h.Value, notInHeader):
				return invalid("%s.value: must not have a control character.", field)
			case h.ValueFrom != nil && strings.ContainsFunc(h.ValueFrom.Prefix, notInHeader):
				return invalid("%s.valueFrom.prefix: must not have a control character.", field)
			}
		}
	}
	return nil
}

// notInPath says whether a character would end a path or its line; what is behind # is not sent.
func notInPath(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }

func notInHeader(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
