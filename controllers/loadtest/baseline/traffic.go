package baseline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// difference is in what the traffic of a run is not that of a finished one whose requests
// have the same names; empty: in nothing that the specs tell. Another timeout, protocol or
// number of workers makes other figures of the same target, and so does a request that is
// another one. What a ConfigMap or a Secret holds is not looked at, and which client's
// certificate it is: that there is one costs the target its part of each handshake.
func difference(spec *v1beta1.LoadTestSpec, finished *v1beta1.LoadTest) string {
	return other(traffic(spec, plan.Workers(spec)), traffic(&finished.Spec, finished.Status.Workers.Desired))
}

// OtherTraffic is the first in which the traffic of a finished run is not that of another; empty: in
// nothing that their specs tell.
func OtherTraffic(here, there *v1beta1.LoadTest) string {
	if what := otherMix(mix(&here.Spec), mix(&there.Spec)); what != "" {
		return what
	}
	return other(traffic(&here.Spec, here.Status.Workers.Desired), traffic(&there.Spec, there.Status.Workers.Desired))
}

func other(ours, theirs map[string]string) string {
	all := maps.Clone(ours)
	maps.Copy(all, theirs)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, b := ours[name], theirs[name]
		switch {
		case a == b:
		case isShown(a) && isShown(b):
			return fmt.Sprintf("%s: %s here, %s there", name, a, b)
		default:
			return name
		}
	}
	return ""
}

// isShown says whether a value goes into a sentence: a number, a time or a word, and nothing
// of a request.
func isShown(value string) bool {
	return !strings.ContainsAny(value, `[{"`)
}

// none is a value that is not set.
const none = "none"

// traffic is what a run sends, and how it waits for the responses, by the names of the
// fields.
func traffic(spec *v1beta1.LoadTestSpec, workers int32) map[string]string {
	t := &spec.Target
	tls := ptr.Deref(t.TLS, v1beta1.TLS{})
	fields := map[string]string{
		"spec.data":                         spelled(spec.Data),
		"spec.journeys":                     spelled(spec.Journeys),
		"spec.setup":                        spelled(spec.Setup),
		"spec.target.disableKeepAlive":      fmt.Sprint(t.DisableKeepAlive),
		"spec.target.headers":               spelled(own(t.Headers)),
		"spec.target.http2":                 spelled(t.HTTP2),
		"spec.target.protocol":              string(cmp.Or(t.Protocol, v1beta1.ProtocolHTTP1)),
		"spec.target.login":                 none,
		"spec.target.proxy":                 none,
		"spec.target.timeout":               plan.TargetTimeout(t).String(),
		"spec.target.tls.clientCertificate": none,
		"spec.target.tls.resume":            fmt.Sprint(tls.Resume),
		"spec.target.trace":                 none,
		"spec.worker.driver":                string(v1beta1.DriverAuto),
		"the number of workers":             fmt.Sprint(workers),
		"the scheme of spec.target":         string(scheme(t)),
	}
	if t.Login != "" {
		fields["spec.target.login"] = loginType(spec, t.Login)
	}
	if t.Proxy != nil {
		fields["spec.target.proxy"] = strings.TrimSuffix(t.Proxy.URL, "/")
	}
	if tls.ClientCertificate != nil {
		fields["spec.target.tls.clientCertificate"] = "one"
	}
	if t.Trace != nil {
		fields["spec.target.trace"] = t.Trace.Sampled
	}
	if spec.Worker != nil && spec.Worker.Driver != "" {
		fields["spec.worker.driver"] = string(spec.Worker.Driver)
	}
	if spec.Replay != nil {
		maps.Copy(fields, lines(spec.Replay))
	}
	for _, other := range spec.RequestTargets() {
		of := other
		of.URL, of.Service, of.Headers, of.Timeout = "", nil, own(other.Headers), nil // each request has its timeout below
		of.Login = loginType(spec, other.Login)
		fields[plan.OtherTargetField(other.Name)] = string(scheme(other.Target())) + spelled(of)
	}
	for i, named := range plan.RequestNames(spec) {
		for field, value := range request(spec.Requests[i]) {
			fields[field+" of request "+named.Name] = value
		}
		fields["timeout of request "+named.Name] = plan.Timeout(spec, &spec.Requests[i]).String()
	}
	return fields
}

// lines are what says which lines of a log are sent, without what routes make of their paths.
func lines(r *v1beta1.Replay) map[string]string {
	methods, routes, start := slices.Sorted(slices.Values(r.Methods)), slices.Clone(r.Routes), none
	if len(methods) == 0 {
		methods = []v1beta1.ReplayMethod{"GET", "HEAD"} // the default
	}
	for i := range routes {
		routes[i].To = ""
	}
	if r.Start != nil {
		start = r.Start.UTC().Format(time.RFC3339)
	}
	return map[string]string{"spec.replay.methods": spelled(methods), "spec.replay.routes": spelled(routes), "spec.replay.start": start}
}

// loginType is how requests log in by the login of a name; "": they do not. Whose login it is does
// not matter, as with a client's certificate.
func loginType(spec *v1beta1.LoadTestSpec, name string) string {
	for i := range spec.Logins {
		if spec.Logins[i].Name == name {
			return string(spec.Logins[i].Type)
		}
	}
	return ""
}

// scheme is that of the target's URL.
func scheme(t *v1beta1.Target) v1beta1.Scheme {
	switch {
	case t.Service != nil:
		return cmp.Or(t.Service.Scheme, v1beta1.SchemeHTTP)
	case strings.HasPrefix(t.URL, "https:"):
		return v1beta1.SchemeHTTPS
	}
	return v1beta1.SchemeHTTP
}

// request returns the fields of a request as texts, without the fields that decide the mix. It leaves
// out its path, which may differ from one version of the target to the next.
func request(r v1beta1.Request) map[string]string {
	h := ptr.Deref(r.HTTP, v1beta1.HTTPRequest{})
	r.Name, r.Type, r.Weight, r.Items, r.Timeout, r.HTTP = "", "", nil, max(r.Items, 1), nil, nil
	h.Path, h.Headers = "", own(h.Headers)
	if r.WebSocket != nil {
		s := *r.WebSocket
		s.Path, s.Headers = "", own(s.Headers)
		r.WebSocket = &s
	}
	if h.Method == "GET" {
		h.Method = "" // the default
	}
	texts := map[string]string{}
	for prefix, of := range map[string]any{"": r, "http.": h} {
		fields := map[string]json.RawMessage{}
		if json.Unmarshal([]byte(spelled(of)), &fields) != nil {
			return nil // not reached: it was written as JSON
		}
		for name, value := range fields {
			texts[prefix+name] = fmt.Sprintf("%q", value)
		}
	}
	return texts
}

// own are the headers without Host, which names the target as its address does.
func own(headers []v1beta1.Header) []v1beta1.Header {
	var list []v1beta1.Header
	for _, h := range headers {
		if !strings.EqualFold(h.Name, "Host") {
			list = append(list, h)
		}
	}
	return list
}

func spelled(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "" // not reached: it came as JSON
	}
	return string(raw)
}
