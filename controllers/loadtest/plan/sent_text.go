package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// sentText is a path or headers that are sent as they are written, with the field.
type sentText struct {
	field, path string
	headers     []v1beta1.Header
}

// sentTexts are those of all that a run sends.
func sentTexts(spec *v1beta1.LoadTestSpec) []sentText {
	list := []sentText{{field: "spec.target.headers", headers: spec.Target.Headers}}
	query := func(field string, q *v1beta1.Query, c *v1beta1.Call) {
		if q != nil {
			list = append(list, sentText{field + ".http.path", q.Path, nil}, sentText{field + ".http.headers", "", q.Headers})
		}
		if c != nil {
			list = append(list, sentText{field + ".grpc.metadata", "", c.Metadata})
		}
	}
	for i := range spec.OtherTargets {
		list = append(list, sentText{OtherTargetField(spec.OtherTargets[i].Name) + ".headers", "", spec.OtherTargets[i].Headers})
	}
	for i := range spec.Requests {
		r, field := &spec.Requests[i], fmt.Sprintf("spec.requests[%d]", i)
		if h := r.HTTP; h != nil {
			query(field, &v1beta1.Query{Path: h.Path, Headers: h.Headers}, nil)
		}
		if s := r.WebSocket; s != nil {
			list = append(list, sentText{field + ".webSocket.path", s.Path, nil}, sentText{field + ".webSocket.headers", "", s.Headers})
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
