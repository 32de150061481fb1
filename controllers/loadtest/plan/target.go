package plan

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

func target(spec *v1beta1.LoadTestSpec, t *v1beta1.Target, url string, access *v1beta1.TargetAccess) *workerv1.Target {
	w := &workerv1.Target{
		Url:              url,
		TimeoutNanos:     int64(TargetTimeout(t)),
		Protocol:         workerv1.Protocol_PROTOCOL_HTTP1,
		DisableKeepAlive: t.DisableKeepAlive,
		ProxyUrl:         proxyURL(t),
		Tls:              targetTLS(t.TLS),
		TraceSampled:     traceShare(t),
	}
	if access != nil {
		w.Name = access.Name
	}
	if t.Protocol == v1beta1.ProtocolHTTP2 {
		w.Protocol = workerv1.Protocol_PROTOCOL_HTTP2
	}
	setDescriptors(w, spec, t)
	if h := t.HTTP2; h != nil {
		w.Http2Connections, w.Http2Streams = orZero(h.Connections), orZero(h.StreamsPerConnection)
	}
	return w
}

func orZero(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// URLs are scheme and host of the targets of a run: Control is "" without one, Others are those that
// requests may name, in the order of spec.otherTargets. "" is also one whose port has a name and is not known.
type URLs struct {
	Target, Control string
	Others          []string
}

// TargetURLs are those of a run that has not begun.
func TargetURLs(lt *v1beta1.LoadTest) URLs {
	u := URLs{Target: targetURL(lt.Namespace, &lt.Spec.Target)}
	if c := lt.Spec.Control(); c != nil {
		u.Control = targetURL(lt.Namespace, c)
	}
	for _, other := range lt.Spec.RequestTargets() {
		u.Others = append(u.Others, targetURL(lt.Namespace, other.Target()))
	}
	return u
}

// KnownURLs are those of a run that has begun, as its status has them.
func KnownURLs(lt *v1beta1.LoadTest) URLs {
	u := URLs{Target: lt.Status.TargetURL, Others: make([]string, len(lt.Spec.RequestTargets()))}
	if lt.Status.Versus != nil {
		u.Control = lt.Status.Versus.TargetURL
	}
	for i := range min(len(u.Others), len(lt.Status.OtherTargets)) {
		u.Others[i] = lt.Status.OtherTargets[i].TargetURL
	}
	return u
}

// targetURL is "" if the target is a named port of a Service.
func targetURL(namespace string, t *v1beta1.Target) string {
	if t.Service == nil {
		return strings.TrimSuffix(t.URL, "/")
	}
	if port := t.Service.TargetPort(); port.Type == intstr.Int {
		return ServiceURL(namespace, t.Service, port.IntVal)
	}
	return ""
}

// ServiceURL is scheme and host of a target, a Service, with the number of its port.
func ServiceURL(namespace string, service *v1beta1.ServiceReference, port int32) string {
	scheme := cmp.Or(service.Scheme, v1beta1.SchemeHTTP)
	return fmt.Sprintf("%s://%s.%s.svc:%d", strings.ToLower(string(scheme)), service.Name, namespace, port)
}

func proxyURL(t *v1beta1.Target) string {
	if t.Proxy == nil {
		return ""
	}
	return strings.TrimSuffix(t.Proxy.URL, "/")
}

func targetTLS(t *v1beta1.TLS) *workerv1.TLS {
	if t == nil {
		return nil
	}
	w := &workerv1.TLS{ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify, Resume: t.Resume}
	if f, ok := contentFile(t.CA); ok {
		w.CaFile = f.Path()
	}
	if c := t.ClientCertificate; c != nil {
		w.CertFile = secretFile(c.SecretName, tlsCertKey).Path()
		w.KeyFile = secretFile(c.SecretName, tlsKeyKey).Path()
	}
	return w
}
