package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What cannot change once a run has started is compared as optionals where it is a number. Of an
// optional list or object the API server takes the cost of a comparison to be without bound, and
// refuses the CRD: the rules about these ask has(...) instead.

// LoadTest is one run of a load test: what to send, how much of it, and what
// the target must keep. It runs once; its result stays in its status.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lt,categories=loadtesting
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Step",type=string,JSONPath=`.status.summary.step`
// +kubebuilder:printcolumn:name="Workers",type=string,JSONPath=`.status.summary.workers`
// +kubebuilder:printcolumn:name="Goodput",type=string,JSONPath=`.status.summary.goodput`
// +kubebuilder:printcolumn:name="P95",type=string,JSONPath=`.status.summary.p95`
// +kubebuilder:printcolumn:name="Errors",type=string,JSONPath=`.status.summary.errors`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Target",type=string,priority=1,JSONPath=`.status.targetURL`
// +kubebuilder:printcolumn:name="Sustained",type=string,priority=1,JSONPath=`.status.summary.sustained`
// +kubebuilder:printcolumn:name="P99",type=string,priority=1,JSONPath=`.status.summary.p99`
// +kubebuilder:printcolumn:name="Unsent",type=string,priority=1,JSONPath=`.status.summary.unsent`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.summary.reason`
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:selectablefield:JSONPath=`.status.verdict`
// +kubebuilder:selectablefield:JSONPath=`.status.startTime`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52",fieldPath=".metadata",message="name must be at most 52 characters, so that the names of the worker pods fit"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.loads) || self.spec.loads.all(l, size(self.metadata.name) + size(l.name) < 52)",fieldPath=".metadata",message="name, and the name of each load, must be at most 51 characters together: they are the name of the load's LoadTest"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",fieldPath=".metadata",message="name must not contain a dot: it is the name of a Job, whose pods have it in their host names"
// +kubebuilder:validation:XValidation:rule=`self.spec.?baseline.?name.orValue("") != self.metadata.name`,fieldPath=".spec.baseline.name",message="name must be the name of another LoadTest"
// +kubebuilder:validation:XValidation:rule="has(self.spec.baseline) || has(self.spec.versus) || !has(self.spec.thresholds) || !self.spec.thresholds.exists(t, has(t.maxIncrease) || has(t.maxDecrease))",fieldPath=".spec.baseline",reason="FieldValueRequired",message="baseline or versus must be set when a threshold has maxIncrease or maxDecrease"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || self.spec.target == oldSelf.spec.target",fieldPath=".spec.target",reason="FieldValueForbidden",message="target cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || self.spec.requests == oldSelf.spec.requests",fieldPath=".spec.requests",reason="FieldValueForbidden",message="requests cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.journeys) ? has(oldSelf.spec.journeys) && self.spec.journeys == oldSelf.spec.journeys : !has(oldSelf.spec.journeys))",fieldPath=".spec.journeys",reason="FieldValueForbidden",message="journeys cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.data) ? has(oldSelf.spec.data) && self.spec.data == oldSelf.spec.data : !has(oldSelf.spec.data))",fieldPath=".spec.data",reason="FieldValueForbidden",message="data cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.setup) ? has(oldSelf.spec.setup) && self.spec.setup == oldSelf.spec.setup : !has(oldSelf.spec.setup))",fieldPath=".spec.setup",reason="FieldValueForbidden",message="setup cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || self.spec.?randomSeed == oldSelf.spec.?randomSeed",fieldPath=".spec.randomSeed",reason="FieldValueForbidden",message="randomSeed cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.ladder) ? has(oldSelf.spec.ladder) && self.spec.ladder == oldSelf.spec.ladder : !has(oldSelf.spec.ladder))",fieldPath=".spec.ladder",reason="FieldValueForbidden",message="ladder cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.steps) ? has(oldSelf.spec.steps) && self.spec.steps == oldSelf.spec.steps : !has(oldSelf.spec.steps))",fieldPath=".spec.steps",reason="FieldValueForbidden",message="steps cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.search) ? has(oldSelf.spec.search) && self.spec.search == oldSelf.spec.search : !has(oldSelf.spec.search))",fieldPath=".spec.search",reason="FieldValueForbidden",message="search cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.loads) ? has(oldSelf.spec.loads) && self.spec.loads == oldSelf.spec.loads : !has(oldSelf.spec.loads))",fieldPath=".spec.loads",reason="FieldValueForbidden",message="loads cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.replay) ? has(oldSelf.spec.replay) && self.spec.replay == oldSelf.spec.replay : !has(oldSelf.spec.replay))",fieldPath=".spec.replay",reason="FieldValueForbidden",message="replay cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.preflight) ? has(oldSelf.spec.preflight) && self.spec.preflight == oldSelf.spec.preflight : !has(oldSelf.spec.preflight))",fieldPath=".spec.preflight",reason="FieldValueForbidden",message="preflight cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || self.spec.?repetitions == oldSelf.spec.?repetitions",fieldPath=".spec.repetitions",reason="FieldValueForbidden",message="repetitions cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.thresholds) ? has(oldSelf.spec.thresholds) && self.spec.thresholds == oldSelf.spec.thresholds : !has(oldSelf.spec.thresholds))",fieldPath=".spec.thresholds",reason="FieldValueForbidden",message="thresholds cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.baseline) ? has(oldSelf.spec.baseline) && self.spec.baseline == oldSelf.spec.baseline : !has(oldSelf.spec.baseline))",fieldPath=".spec.baseline",reason="FieldValueForbidden",message="baseline cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.otherTargets) ? has(oldSelf.spec.otherTargets) && self.spec.otherTargets == oldSelf.spec.otherTargets : !has(oldSelf.spec.otherTargets))",fieldPath=".spec.otherTargets",reason="FieldValueForbidden",message="otherTargets cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.logins) ? has(oldSelf.spec.logins) && self.spec.logins == oldSelf.spec.logins : !has(oldSelf.spec.logins))",fieldPath=".spec.logins",reason="FieldValueForbidden",message="logins cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.versus) ? has(oldSelf.spec.versus) && self.spec.versus == oldSelf.spec.versus : !has(oldSelf.spec.versus))",fieldPath=".spec.versus",reason="FieldValueForbidden",message="versus cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.audits) ? has(oldSelf.spec.audits) && self.spec.audits == oldSelf.spec.audits : !has(oldSelf.spec.audits))",fieldPath=".spec.audits",reason="FieldValueForbidden",message="audits cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.queue) ? has(oldSelf.spec.queue) && self.spec.queue == oldSelf.spec.queue : !has(oldSelf.spec.queue))",fieldPath=".spec.queue",reason="FieldValueForbidden",message="queue cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || self.spec.?parallelism == oldSelf.spec.?parallelism",fieldPath=".spec.parallelism",reason="FieldValueForbidden",message="parallelism cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.worker) ? has(oldSelf.spec.worker) && self.spec.worker == oldSelf.spec.worker : !has(oldSelf.spec.worker))",fieldPath=".spec.worker",reason="FieldValueForbidden",message="worker cannot change once the run has started; create another LoadTest instead"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.startTime.hasValue() || (has(self.spec.expose) ? has(oldSelf.spec.expose) && self.spec.expose == oldSelf.spec.expose : !has(oldSelf.spec.expose))",fieldPath=".spec.expose",reason="FieldValueForbidden",message="expose cannot change once the run has started; create another LoadTest instead"
type LoadTest struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to send, how much of it, and what the target must keep.
	// +required
	Spec LoadTestSpec `json:"spec"`
	// status is what was observed; the operator writes it.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1,"phase":"Pending"}
	Status LoadTestStatus `json:"status,omitzero"`
}

// LoadTestList is a list of LoadTests.
//
// +kubebuilder:object:root=true
type LoadTestList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the list's standard metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the LoadTests.
	Items []LoadTest `json:"items"`
}

// LoadTestSpec is what is sent, and what the target must keep.
//
// +kubebuilder:validation:XValidation:rule="[has(self.ladder), has(self.steps), has(self.search), has(self.replay), has(self.loads)].exists_one(set, set)",message="exactly one of ladder, steps, search, replay and loads must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.loads) || !has(self.baseline) && !has(self.versus) && !has(self.audits) && !has(self.parallelism) && self.repetitions == 1",fieldPath=".loads",reason="FieldValueForbidden",message="loads must not be set with baseline, versus, audits or repetitions, or with parallelism, which each load has"
// +kubebuilder:validation:XValidation:rule="!has(self.loads) || self.loads.all(l, !has(l.requests) || l.requests.all(n, self.requests.exists(r, r.name == n)))",fieldPath=".loads",message="requests of a load must be names of spec.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.loads) || self.loads.all(l, !has(l.journeys) || has(self.journeys) && l.journeys.all(n, self.journeys.exists(j, j.name == n)))",fieldPath=".loads",message="journeys of a load must be names of spec.journeys"
// +kubebuilder:validation:XValidation:rule="!has(self.loads) || self.loads.all(l, !has(l.after) || self.loads.exists(o, o.name == l.after))",fieldPath=".loads",message="after of a load must be the name of one of spec.loads"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || self.thresholds.all(t, !has(t.loads) || has(self.loads) && t.loads.all(n, self.loads.exists(l, l.name == n)))",fieldPath=".thresholds",message="loads of a threshold must be names of spec.loads"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || !has(self.repetitions) || self.repetitions == 1",fieldPath=".repetitions",reason="FieldValueForbidden",message="repetitions must not be set with search, which repeats the probes that decide"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || !has(self.thresholds) || self.thresholds.all(t, !has(t.onBreach) || t.onBreach == 'Continue')",fieldPath=".thresholds",reason="FieldValueForbidden",message="onBreach must not be set with search, which goes on after a breach"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || !has(self.thresholds) || self.thresholds.all(t, !has(t.upToUsers) && !has(t.steps) && !has(t.inRepetitions) && !has(t.maxIncrease) && !has(t.maxDecrease))",fieldPath=".thresholds",reason="FieldValueForbidden",message="upToUsers, steps, inRepetitions, maxIncrease and maxDecrease must not be set with search, whose thresholds hold for every probe: set max or min, or compare a ladder"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || !has(self.worker) || !has(self.worker.onLoss) || self.worker.onLoss == 'Stop'",fieldPath=".worker.onLoss",reason="FieldValueForbidden",message="worker.onLoss must not be Continue with search, which needs all of the load that it asks for"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || (has(self.audits) && self.audits.exists(a, has(a.rateLimit))) || !self.thresholds.exists(t, t.metric in ['overLimitGrants', 'falseDenials'])",fieldPath=".audits",reason="FieldValueRequired",message="audits must have a rateLimit when a threshold is on overLimitGrants or falseDenials"
// +kubebuilder:validation:XValidation:rule="!has(self.versus) || !has(self.baseline)",fieldPath=".versus",reason="FieldValueForbidden",message="versus must not be set with baseline: thresholds compare with one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.versus) || !has(self.search)",fieldPath=".versus",reason="FieldValueForbidden",message="versus must not be set with search, whose steps follow from one target"
// +kubebuilder:validation:XValidation:rule="!has(self.versus) || !has(self.audits)",fieldPath=".versus",reason="FieldValueForbidden",message="versus must not be set with audits, which count what one target does in the whole run"
// +kubebuilder:validation:XValidation:rule="!has(self.versus) || has(self.otherTargets) && self.otherTargets.exists(o, o.name == self.versus.target)",fieldPath=".versus.target",message="target must be the name of one of spec.otherTargets, such as v3 with otherTargets: [{name: v3, service: {name: shortener-v3}}]"
// +kubebuilder:validation:XValidation:rule="!has(self.versus) || !has(self.otherTargets) || self.otherTargets.all(o, o.name != self.versus.target || !has(o.timeout))",fieldPath=".otherTargets",reason="FieldValueForbidden",message="timeout must not be set in the target that versus names: target.timeout holds for both"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || self.thresholds.all(t, !has(t.inRepetitions) || t.inRepetitions <= self.?repetitions.orValue(1))",fieldPath=".thresholds",message="inRepetitions of a threshold must be at most spec.repetitions"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || self.thresholds.all(t, !has(t.requests) || t.requests.all(n, self.requests.exists(r, r.name == n)))",fieldPath=".thresholds",message="requests of a threshold must be names of spec.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.target.grpc) || self.requests.exists(r, has(r.grpc)) || has(self.preflight) && self.preflight.exists(p, has(p.grpc)) || has(self.versus) && has(self.versus.preflight) && self.versus.preflight.exists(p, has(p.grpc)) || has(self.audits) && self.audits.exists(a, has(a.stored) && has(a.stored.read.grpc))",fieldPath=".target.grpc",reason="FieldValueForbidden",message="target.grpc must not be set unless a request, preflight or an audit has grpc: only calls of gRPC use its descriptors"
// +kubebuilder:validation:XValidation:rule="self.requests.all(r, !has(r.grpc)) || has(self.target.protocol) && self.target.protocol == 'HTTP/2'",fieldPath=".target.protocol",reason="FieldValueRequired",message="target.protocol must be HTTP/2 when a request has grpc"
// +kubebuilder:validation:XValidation:rule="self.requests.all(r, !has(r.grpc)) || !has(self.target.proxy)",fieldPath=".target.proxy",reason="FieldValueForbidden",message="target.proxy must not be set when a request has grpc: calls of gRPC do not go through a proxy"
// +kubebuilder:validation:XValidation:rule="!has(self.preflight) || has(self.target.protocol) && self.target.protocol == 'HTTP/2' && !has(self.target.proxy) || self.preflight.all(p, !has(p.grpc) && !has(p.grpcHealth))",fieldPath=".preflight",reason="FieldValueForbidden",message="grpc and grpcHealth must not be set unless target.protocol is HTTP/2, without target.proxy"
// +kubebuilder:validation:XValidation:rule="!has(self.versus) || !has(self.otherTargets) || self.otherTargets.all(o, o.name != self.versus.target || has(o.protocol) && o.protocol == 'HTTP/2' && !has(o.proxy)) || self.requests.all(r, !has(r.grpc)) && (has(self.versus.preflight) && self.versus.preflight.size() > 0 ? self.versus.preflight.all(p, !has(p.grpc) && !has(p.grpcHealth)) : !has(self.preflight) || self.preflight.all(p, !has(p.grpc) && !has(p.grpcHealth)))",fieldPath=".otherTargets",reason="FieldValueForbidden",message="protocol must be HTTP/2, without proxy, in the target that versus names when a request or a preflight of it has grpc or grpcHealth"
// +kubebuilder:validation:XValidation:rule="!has(self.audits) || has(self.target.protocol) && self.target.protocol == 'HTTP/2' && !has(self.target.proxy) || self.audits.all(a, !has(a.stored) || !has(a.stored.read.grpc))",fieldPath=".audits",reason="FieldValueForbidden",message="grpc of an audit must not be set unless target.protocol is HTTP/2, without target.proxy"
// +kubebuilder:validation:XValidation:rule="!has(self.worker) || !has(self.worker.driver) || self.worker.driver != 'Vegeta' || self.requests.all(r, !has(r.grpc))",fieldPath=".worker.driver",reason="FieldValueForbidden",message="worker.driver must not be Vegeta when a request has grpc, which it does not send"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || self.thresholds.all(t, !has(t.types) || t.types.all(n, self.requests.exists(r, (has(r.type) ? r.type : has(r.grpc) ? 'Call' : has(r.http.targets) ? 'Mixed' : !has(r.http.method) || r.http.method in ['GET', 'HEAD', 'OPTIONS'] ? 'Read' : 'Write') == n)))",fieldPath=".thresholds",message="types of a threshold must be types of spec.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.audits) || self.audits.all(a, !has(a.stored) || a.stored.requests.all(n, self.requests.exists(r, r.name == n)))",fieldPath=".audits",message="requests of an audit must be names of spec.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.setup) || !has(self.setup.fill) || self.requests.exists(r, r.name == self.setup.fill.request)",fieldPath=".setup.fill.request",message="request must be the name of one of spec.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.setup) || !has(self.setup.warmUp) || self.requests.exists(r, r.name == self.setup.warmUp.request)",fieldPath=".setup.warmUp.request",message="request must be the name of one of spec.requests"
// +kubebuilder:validation:XValidation:rule="has(self.journeys) || self.requests.size() == 0 || self.requests.exists(r, !has(r.weight) || r.weight > 0)",fieldPath=".requests",message="requests must have at least one with a weight above 0"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || self.journeys.all(j, j.steps.all(s, !has(s.request) || self.requests.exists(r, r.name == s.request)))",fieldPath=".journeys",message="requests of a journey must be names of spec.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || self.journeys.all(j, !has(j.user) || has(self.data) && self.data.exists(d, d.name == j.user.data))",fieldPath=".journeys",message="user.data of a journey must be the name of one of spec.data"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || !has(self.search) || !has(self.search.rate)",fieldPath=".journeys",reason="FieldValueForbidden",message="journeys must not be set with search.rate, which searches for a rate of requests; set search.users, or steps with a rate"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || self.journeys.all(j, j.steps.all(s, !has(s.think))) || (!has(self.ladder) || !has(self.ladder.ratePerUser)) && (!has(self.steps) || self.steps.all(s, !has(s.ratePerUser))) && (!has(self.search) || !has(self.search.ratePerUser))",fieldPath=".journeys",reason="FieldValueForbidden",message="think must not be set with ratePerUser, which says when a user's requests are due"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || !has(self.setup) || !has(self.setup.fill) || !has(self.setup.fill.capture) || self.journeys.all(j, j.steps.all(s, !has(s.capture) || s.capture.all(c, !(c in self.setup.fill.capture))))",fieldPath=".journeys",message="capture of a journey must not use a name that setup.fill captures"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || self.thresholds.all(t, !has(t.journeys) || t.journeys.all(n, has(self.journeys) && self.journeys.exists(j, j.name == n)))",fieldPath=".thresholds",message="journeys of a threshold must be names of spec.journeys"
// +kubebuilder:validation:XValidation:rule="!has(self.worker) || !has(self.worker.driver) || self.worker.driver != 'Vegeta' || (!has(self.ladder) || !has(self.ladder.users)) && (!has(self.steps) || self.steps.all(s, !has(s.users))) && (!has(self.search) || !has(self.search.users))",fieldPath=".worker.driver",reason="FieldValueForbidden",message="driver Vegeta sends rates and has no users: set ladder.rates, rate of steps or search.rate, or driver Auto"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || !has(self.worker) || !has(self.worker.driver) || self.worker.driver != 'Vegeta'",fieldPath=".worker.driver",reason="FieldValueForbidden",message="driver Vegeta must not be set with journeys, which it does not carry out; use driver Auto"
// +kubebuilder:validation:XValidation:rule="!has(self.worker) || !has(self.worker.driver) || self.worker.driver != 'Vegeta' || !has(self.target.proxy)",fieldPath=".worker.driver",reason="FieldValueForbidden",message="driver Vegeta must not be set with target.proxy"
// +kubebuilder:validation:XValidation:rule="!has(self.worker) || !has(self.worker.driver) || self.worker.driver != 'Vegeta' || !has(self.target.tls) || !has(self.target.tls.resume) || !self.target.tls.resume",fieldPath=".worker.driver",reason="FieldValueForbidden",message="driver Vegeta must not be set with target.tls.resume: it has no sessions to resume"
// +kubebuilder:validation:XValidation:rule="!has(self.target.trace) || self.requests.all(r, (!has(r.http) || !has(r.http.headers) || r.http.headers.all(h, h.name.lowerAscii() != 'traceparent')) && (!has(r.grpc) || !has(r.grpc.metadata) || r.grpc.metadata.all(m, m.name.lowerAscii() != 'traceparent')))",fieldPath=".requests",reason="FieldValueForbidden",message="requests must not have traceparent in headers or metadata with target.trace, which sends it"
// +kubebuilder:validation:XValidation:rule="!has(self.target.trace) || !has(self.versus) || !has(self.otherTargets) || self.otherTargets.all(o, o.name != self.versus.target || !has(o.headers) || o.headers.all(h, h.name.lowerAscii() != 'traceparent'))",fieldPath=".otherTargets",reason="FieldValueForbidden",message="headers must not have traceparent in the target that versus names with target.trace, which sends it"
// +kubebuilder:validation:XValidation:rule="!has(self.replay) || !has(self.journeys)",fieldPath=".journeys",reason="FieldValueForbidden",message="journeys must not be set with replay, whose log says what is sent"
// +kubebuilder:validation:XValidation:rule="!has(self.replay) || (has(self.replay.routes) ? self.replay.routes.all(t, self.requests.exists(r, r.name == t.request && has(r.http))) : size(self.requests) == 1 && has(self.requests[0].http))",fieldPath=".replay.routes",message="routes must name requests with http of spec.requests; without routes there must be exactly one request"
// +kubebuilder:validation:XValidation:rule="!has(self.replay) || !has(self.worker) || !has(self.worker.driver) || self.worker.driver != 'Vegeta'",fieldPath=".worker.driver",reason="FieldValueForbidden",message="driver Vegeta must not be set with replay; use driver Auto"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?terminate.orValue(false) || self.?terminate.orValue(false)",fieldPath=".terminate",reason="FieldValueForbidden",message="terminate cannot be taken back"
type LoadTestSpec struct {
	// target is the service under test.
	// +required
	Target Target `json:"target"`

	// otherTargets are targets to which the requests go that name them, such as the service that
	// issues tokens, and the one that versus names. Each user has a connection of its own to
	// each. Example: [{name: identity, service: {name: keycloak, port: http}}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	OtherTargets []OtherTarget `json:"otherTargets,omitempty"`

	// logins are what targets name to log in. Example: [{name: shop, type: Basic, secretName:
	// loadtest-shop}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Logins []Login `json:"logins,omitempty"`

	// preflight are questions that each worker asks first: whether the target is the
	// version and configuration meant, or is healthy. No step begins before every worker
	// has the expected responses. Absent: condition TargetVerified says that nothing was
	// verified. Example: [{http: {path: /version}}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Preflight []Preflight `json:"preflight,omitempty"`

	// requests are the traffic mix. They are interleaved in proportion to their
	// weights, not at random, so that the mix is exact over every cycle. Example:
	// [{name: health, http: {path: /health}}].
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Requests []Request `json:"requests"`

	// journeys are what users do in order, with values of one response in the next. They take part
	// in the mix by weight, beside requests. A user carries out one after another; a rate starts
	// so many a second. Example: [{name: buy, steps: [{request: login, capture: {token: .token}},
	// {request: checkout}]}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Journeys []Journey `json:"journeys,omitempty"`

	// data are tables whose columns the templates of requests name as ${column}. A
	// column belongs to one table only.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Data []Data `json:"data,omitempty"`

	// setup is what the workers send before they are ready. It is part of no result,
	// and startDeadlineSeconds bounds it. Absent: nothing is sent.
	// +optional
	Setup *Setup `json:"setup,omitempty"`

	// randomSeed is the seed of everything random: rows, ${uuid}, ${rand:a-b}, Poisson
	// arrivals, and the order of the two targets of versus. The same seed, spec and number of workers send the same
	// requests. Absent: derived from metadata.uid, so that two runs differ.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	RandomSeed *int64 `json:"randomSeed,omitempty"`

	// ladder is the short form of steps: one step for each number of users, or for each
	// rate. Exactly one of ladder, steps, search, replay and loads is set. Example: {users: [10, 100],
	// ratePerUser: 1, duration: 30s}.
	// +optional
	Ladder *Ladder `json:"ladder,omitempty"`

	// steps is the explicit form: what to send, one after another, half a second apart. Many
	// short steps are seconds apart: a run writes its status at 50 KB a second at most.
	// Example: [{name: steady, rate: 100, duration: 30s}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.exists(s, !has(s.pause))",message="steps must not all be pauses"
	Steps []Step `json:"steps,omitempty"`

	// search looks for the highest load that keeps the thresholds, in at most 24 steps
	// that follow from each other. Example: {rate: {min: 100, max: 10000}, duration: 20s, precision: 5%}.
	// +optional
	Search *Search `json:"search,omitempty"`

	// replay sends the requests of an access log at their own times. Example: {from: {volume: {claim: loadtest-logs, path:
	// access.log}}, speed: 2, duration: 10m}.
	// +optional
	Replay *Replay `json:"replay,omitempty"`

	// loads are sent side by side, each with requests, journeys and steps, or a ladder, of its own. Example: [{name:
	// readers, requests: [follow], steps: [{name: all, rate: 500, duration: 5m}]}, {name: buyers,
	// journeys: [buy], delay: 30s, steps: [{name: all, rate: 2, duration: 4m}]}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Loads []Load `json:"loads,omitempty"`

	// repetitions is the number of times that all steps run, one time after the other, with a
	// ladder's rest between. status.spread then says how far the results differ.
	// Thresholds hold in each; setup runs once. All steps and pauses together are at
	// most 128. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Repetitions int32 `json:"repetitions,omitempty"`

	// thresholds are what the target must keep, such as {metric: p95, max: 200ms}.
	// Requests and steps without a max on failureRate, unsentRate or downtime have one by
	// default, of 1%, 1% and 0.5%, which stands in status.thresholds; a min does not replace
	// it. A threshold with max 100% waives it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(t, !has(t.name) || self.exists_one(o, has(o.name) && o.name == t.name))",message="thresholds must have names that are unique"
	Thresholds []Threshold `json:"thresholds,omitempty"`

	// baseline is another LoadTest of the namespace, or the level of a schedule, whose
	// figures are copied into this status before the first step. Thresholds with maxIncrease or
	// maxDecrease bound the difference, step by step. Examples: {name: shortener-v3},
	// {schedule: nightly}, {selector: {app: shop}}.
	// +optional
	Baseline *Baseline `json:"baseline,omitempty"`

	// versus names one of otherTargets that gets the same load in this run, in turn with
	// target. Thresholds with maxIncrease or maxDecrease bound the difference, step by
	// step; all others are about target alone. Example: {target: v3}.
	// +optional
	Versus *Versus `json:"versus,omitempty"`

	// audits are contracts of the target with which the result is compared, each step's
	// or that of the whole run. At most one has a rateLimit. Absent: nothing is audited.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.filter(a, has(a.rateLimit)).size() <= 1",message="audits must have at most one rateLimit"
	Audits []Audit `json:"audits,omitempty"`

	// parallelism is the number of workers that share the load. Absent: one worker for
	// every 2500 users or 2500 requests per second of the largest step, or of the max of
	// a search, whichever gives more.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Parallelism *int32 `json:"parallelism,omitempty"`

	// worker adjusts the pods that send the load.
	// +optional
	Worker *Worker `json:"worker,omitempty"`

	// expose is what the status, Events and logs may quote where something is wrong.
	// Nothing of a request or of a Secret is ever quoted. Default None. Example: Responses.
	// +optional
	// +kubebuilder:default=None
	Expose Exposure `json:"expose,omitempty"`

	// queue decides the place among the runs that wait, if this one has to. Absent: the
	// namespace with the fewest workers under way is first, and within it the older LoadTest.
	// Example: {priorityClass: release-gate}.
	// +optional
	Queue *Queue `json:"queue,omitempty"`

	// suspend holds the run. Before the first step it has no workers; later it is held
	// when the current step ends, and its workers wait. They end, and the run with them,
	// a day after the longest that it could take (startDeadlineSeconds and the steps, or
	// activeDeadlineSeconds). Default false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// terminate ends the run as soon as possible. The results so far are kept, and the
	// verdict is Canceled. It cannot be undone. Default false.
	// +optional
	Terminate bool `json:"terminate,omitempty"`

	// startDeadlineSeconds is how long all workers may take to become ready, setup
	// included, counted from status.startTime, after the wait in the queue. After it the verdict is Error. Default
	// 300.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	StartDeadlineSeconds *int64 `json:"startDeadlineSeconds,omitempty"`

	// activeDeadlineSeconds is how long the whole run may take, counted from
	// status.startTime. After it the run is cut: the results so far are kept, and the
	// verdict is Error. Once there are workers it can be raised by no more than a day:
	// they end then. Absent: only the lengths of the steps bound it.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// ttlSecondsAfterFinished is how long a finished LoadTest is kept, counted from
	// status.completionTime. Absent: it is kept until it is deleted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}
