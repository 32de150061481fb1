package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestWhatIsImpliedIsLeftOut(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"the format of a number whose bounds have room in 32 bits": {"{type: integer, format: int64, minimum: 0, maximum: 2147483647}", "{type: integer, minimum: 0, maximum: 2147483647}"},
		"the format of one with less bounds":                       {"{type: integer, format: int32, minimum: 0}", "{type: integer, format: int32, minimum: 0}"},
		"the format of one with greater bounds":                    {"{type: integer, format: int64, minimum: 0, maximum: 2147483648}", "{type: integer, format: int64, minimum: 0, maximum: 2147483648}"},
		"the format of one below":                                  {"{type: integer, format: int64, minimum: -2147483649, maximum: 1}", "{type: integer, format: int64, minimum: -2147483649, maximum: 1}"},
		"the format of a time":                                     {"{type: string, format: date-time, minimum: 0, maximum: 1}", "{type: string, format: date-time, minimum: 0, maximum: 1}"},
		"both types of a number or text":                           {"{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}", "{x-kubernetes-int-or-string: true}"},
		"the alternatives of another":                              {"{anyOf: [{required: [a]}]}", "{anyOf: [{required: [a]}]}"},
		"the length of a text that a pattern has":                  {"{type: string, minLength: 1, pattern: '^[a-z]+$'}", "{type: string, pattern: '^[a-z]+$'}"},
		"the length of one whose pattern has none":                 {"{type: string, minLength: 1, pattern: '^[a-z]*$'}", "{type: string, minLength: 1, pattern: '^[a-z]*$'}"},
		"a greater length":                                         {"{type: string, minLength: 2, pattern: '^[a-z]+$'}", "{type: string, minLength: 2, pattern: '^[a-z]+$'}"},
		"parts of parts, not their names": {
			"{properties: {anyOf: {items: {additionalProperties: {type: integer, format: int32, minimum: 1, maximum: 9}}}}, x-kubernetes-int-or-string: false}",
			"{properties: {anyOf: {items: {additionalProperties: {type: integer, minimum: 1, maximum: 9}}}}, x-kubernetes-int-or-string: false}",
		},
	} {
		var got, want schema
		must.Succeed(t, yaml.Unmarshal([]byte(tc.in), &got))
		must.Succeed(t, yaml.Unmarshal([]byte(tc.want), &want))
		must.Succeed(t, part{"", got}.dropImplied())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, in := range []schema{{"minLength": 1.0, "pattern": "("}, {"items": schema{"minLength": 1.0, "pattern": "("}}} {
		if err := (part{"at", in}).dropImplied(); err == nil || err.Error()[:12] != "at: pattern:" {
			t.Errorf("a pattern that is none: %v", err)
		}
	}
}
