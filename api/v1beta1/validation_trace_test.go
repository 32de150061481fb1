package v1beta1_test

const wrongShare = "sampled must be a percentage above 0% and up to 100%, such as 1%"

// traceValidations are about the trace context of requests.
var traceValidations = []validation{
	{name: "a trace without its share", valid: "{target: {trace: {sampled: 1%}}}",
		invalid: "{target: {trace: {}}}",
		want:    []string{"spec.target.trace.sampled: Required value"}},
	{name: "a share of none", valid: "{target: {trace: {sampled: 0.000001%}}}",
		invalid: "{target: {trace: {sampled: 0.000%}}}",
		want:    []string{`spec.target.trace.sampled: Invalid value: "0.000%": ` + wrongShare}},
	{name: "a share of more than all", valid: "{target: {trace: {sampled: 100%}}}",
		invalid: "{target: {trace: {sampled: 100.000001%}}}",
		want:    []string{`spec.target.trace.sampled: Invalid value: "100.000001%": ` + wrongShare}},
	{name: "a share without a percent sign", valid: "{target: {trace: {sampled: 99.999999%}}}",
		invalid: "{target: {trace: {sampled: '0.01'}}}",
		want:    []string{`spec.target.trace.sampled: Invalid value: "0.01": ` + wrongShare}},
	{name: "a trace header of the target's beside its trace", valid: "{target: {headers: [{name: traceparent, value: ''}, {name: tracestate, value: a=b}]}}",
		invalid: "{target: {trace: {sampled: 1%}, headers: [{name: tracestate, value: a=b}, {name: TraceParent, value: ''}]}}",
		want:    []string{"spec.target.headers: Forbidden: headers must not have traceparent with trace, which sends it"}},
	{name: "a trace header of a request beside the target's trace", valid: "{requests: [{name: home, http: {headers: [{name: Traceparent, value: ''}]}}]}",
		invalid: "{target: {trace: {sampled: 1%}}, requests: [{name: home, http: {}}, {name: b, http: {path: /b, headers: [{name: a, value: ''}, {name: Traceparent, value: ''}]}}]}",
		want:    []string{"spec.requests: Forbidden: requests must not have traceparent in headers or metadata with target.trace, which sends it"}},
	{name: "a trace header of the control's beside the target's trace", valid: "{target: {trace: {sampled: 1%}}, otherTargets: [{name: a, url: 'http://a', headers: [{name: traceparent, value: ''}]}, {name: v3, url: 'http://v3', headers: [{name: tracestate, value: ''}]}], versus: {target: v3}}",
		invalid: "{target: {trace: {sampled: 1%}}, otherTargets: [{name: v3, url: 'http://v3', headers: [{name: a, value: ''}, {name: TraceParent, value: ''}]}], versus: {target: v3}}",
		want:    []string{"spec.otherTargets: Forbidden: headers must not have traceparent in the target that versus names with target.trace, which sends it"}},
}
