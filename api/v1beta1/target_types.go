package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Target is the service under test.
//
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || (has(self.url) ? self.url.startsWith('https://') : has(self.service) && has(self.service.scheme) && self.service.scheme == 'HTTPS')",fieldPath=".tls",reason="FieldValueForbidden",message="tls must not be set for a target that is not https"
// +kubebuilder:validation:XValidation:rule="!has(self.proxy) || !has(self.protocol) || self.protocol != 'HTTP/2' || (has(self.url) ? self.url.startsWith('https://') : has(self.service) && has(self.service.scheme) && self.service.scheme == 'HTTPS')",fieldPath=".proxy",reason="FieldValueForbidden",message="proxy must not be set with HTTP/2 for a target that is not https"
// +kubebuilder:validation:XValidation:rule="!has(self.http2) || has(self.protocol) && self.protocol == 'HTTP/2'",fieldPath=".http2",reason="FieldValueForbidden",message="http2 must not be set unless protocol is HTTP/2"
// +kubebuilder:validation:XValidation:rule="!has(self.http2) || !has(self.proxy)",fieldPath=".http2",reason="FieldValueForbidden",message="http2 must not be set with proxy, through which each request in flight has a connection"
// +kubebuilder:validation:XValidation:rule="!has(self.http2) || !has(self.disableKeepAlive) || !self.disableKeepAlive",fieldPath=".http2",reason="FieldValueForbidden",message="http2 must not be set with disableKeepAlive, which gives each request a connection"
// +kubebuilder:validation:XValidation:rule="!has(self.trace) || !has(self.headers) || self.headers.all(h, h.name.lowerAscii() != 'traceparent')",fieldPath=".headers",reason="FieldValueForbidden",message="headers must not have traceparent with trace, which sends it"
// +kubebuilder:validation:XValidation:rule="has(self.url) != has(self.service)",message="exactly one of url and service must be set"
type Target struct {
	// url is the base of every request, without a path. The administrator decides
	// which hosts are allowed. Example: http://shortener:8080.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@ ]+/?$')",message="url must be http:// or https:// with a host and without a path, such as http://shortener:8080"
	URL string `json:"url,omitempty"`

	// service is a Service of the LoadTest's own namespace.
	// +optional
	Service *ServiceReference `json:"service,omitempty"`

	// protocol is the version of HTTP. HTTP/2 is negotiated by ALPN over https, and
	// used without negotiation over http. Default HTTP/1.1.
	// +optional
	// +kubebuilder:default="HTTP/1.1"
	Protocol Protocol `json:"protocol,omitempty"`

	// http2 is how requests share connections of HTTP/2. It must not be set with another
	// protocol, nor with proxy or disableKeepAlive. Absent: its defaults. Example:
	// {connections: 4, streamsPerConnection: 16}.
	// +optional
	HTTP2 *HTTP2 `json:"http2,omitempty"`

	// grpc describes the services of the target that calls use. It must not be set
	// unless a request, preflight or an audit has grpc. Absent: the target's reflection
	// describes them. Example: {descriptorsFrom: {configMap: {name: shop-protos, key:
	// shop.binpb}}}.
	// +optional
	GRPC *TargetGRPC `json:"grpc,omitempty"`

	// disableKeepAlive opens a new connection for each request; the time to connect
	// counts into the request's time. Default false: connections are kept.
	// +optional
	DisableKeepAlive bool `json:"disableKeepAlive,omitempty"`

	// tls is how an https target is verified, and which certificate the client shows.
	// Absent: the target is verified by the certificates that the worker image trusts,
	// and the client shows none.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// proxy is an HTTP proxy through which all requests go. Absent: requests go to the
	// target itself, whatever proxies the environment of the worker names.
	// +optional
	Proxy *Proxy `json:"proxy,omitempty"`

	// timeout bounds each request, from when it is sent to the last byte of its
	// response, unless it has its own. Default 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1ms'), duration(self), duration('10m')].isSorted()",message="timeout must be a time from 1ms to 10m, such as 30s"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// headers are sent with every request. A request's own header of the same name
	// replaces one of these.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Headers []Header `json:"headers,omitempty"`

	// login is one of spec.logins, by name. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	Login string `json:"login,omitempty"`

	// trace sends each request of a step with a trace context, and has the ids of the
	// slowest and of some failed requests stand in the results. Absent: requests have the
	// headers alone that are set here. Example: {sampled: 1%}.
	// +optional
	Trace *Trace `json:"trace,omitempty"`
}

// ServiceReference names a port of a Service.
type ServiceReference struct {
	// name is the Service's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// port is the number or the name of a port of the Service. Default 80. A name is
	// looked up when the run starts, which waits for the Service to be there.
	// Example: http.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 65535 : self.matches('^[a-z0-9]+(-[a-z0-9]+)*$') && self.matches('[a-z]')",message="port must be a number from 1 to 65535, or the name of a port of the Service, such as http"
	Port *intstr.IntOrString `json:"port,omitempty"`

	// scheme is HTTP or HTTPS. Default HTTP.
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`
}

// TargetPort is the port, a number or a name, defaults applied.
func (s *ServiceReference) TargetPort() intstr.IntOrString {
	if s.Port == nil {
		return intstr.FromInt32(80)
	}
	return *s.Port
}

// Scheme is the scheme of a Service's URL.
//
// +kubebuilder:validation:Enum=HTTP;HTTPS
type Scheme string

const (
	// SchemeHTTP is plain HTTP.
	SchemeHTTP Scheme = "HTTP"
	// SchemeHTTPS is HTTP over TLS.
	SchemeHTTPS Scheme = "HTTPS"
)

// Protocol is a version of HTTP.
//
// +kubebuilder:validation:Enum="HTTP/1.1";"HTTP/2"
type Protocol string

const (
	// ProtocolHTTP1 sends one request after another over each connection.
	ProtocolHTTP1 Protocol = "HTTP/1.1"
	// ProtocolHTTP2 sends requests side by side over a connection.
	ProtocolHTTP2 Protocol = "HTTP/2"
)

// Proxy is an HTTP proxy. Plain requests name the target to it (absolute form),
// and a Host header of their own is not sent; https goes through a tunnel that
// it makes (CONNECT). The proxy resolves the target's name, and what it answers
// itself counts like an answer of the target.
type Proxy struct {
	// url is the proxy's, without credentials and without a path. The administrator
	// decides which hosts are allowed, as for the target. Example: http://proxy:3128.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^http://[^/?#@ ]+/?$')",message="url must be http:// with a host, without credentials and without a path, such as http://proxy:3128"
	URL string `json:"url"`
}

// TLS is how an https target is verified, and which certificate the client shows.
//
// +kubebuilder:validation:XValidation:rule="!has(self.ca) || !has(self.insecureSkipVerify) || !self.insecureSkipVerify",message="ca must not be set with insecureSkipVerify, which trusts every certificate"
type TLS struct {
	// ca are the certificates that are trusted, in PEM, instead of those that the
	// worker image trusts.
	// +optional
	CA *Content `json:"ca,omitempty"`

	// clientCertificate is the certificate that the client shows when the target asks
	// for one. Absent: none.
	// +optional
	ClientCertificate *ClientCertificate `json:"clientCertificate,omitempty"`

	// serverName is the name that the target's certificate must have, and that is
	// sent to the target (SNI). Absent: the host of the target.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?$`
	ServerName string `json:"serverName,omitempty"`

	// insecureSkipVerify trusts every certificate. Default false.
	// +optional
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`

	// resume reuses TLS sessions: a user's own when it connects again, and for arrivals the
	// session of the connection that is replaced. resumedHandshakes counts those that the target
	// accepted. Default false: every handshake is full, as with a new client.
	// +optional
	Resume bool `json:"resume,omitempty"`
}

// ClientCertificate is a client's certificate and key.
type ClientCertificate struct {
	// secretName is a Secret of the LoadTest's namespace and of type
	// kubernetes.io/tls: its keys tls.crt and tls.key are used.
	// +required
	SecretName ObjectName `json:"secretName"`
}

// Header is an HTTP header.
//
// +kubebuilder:validation:XValidation:rule="has(self.value) != has(self.valueFrom)",message="exactly one of value and valueFrom must be set"
type Header struct {
	// name is the header's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern="^[-!#$%&'*+.^_`|~0-9A-Za-z]+$"
	Name string `json:"name"`

	// value is the header's value. It may be a template, as in requests.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^[^\r\n\x00]*$`
	Value *string `json:"value,omitempty"`

	// valueFrom is a source of a value that must not stand here. It is no template,
	// and line breaks at its end are removed. Example: {prefix: "Bearer ",
	// secret: {name: loadtest-api, key: token}}.
	// +optional
	ValueFrom *HeaderSource `json:"valueFrom,omitempty"`
}

// HeaderSource is where a header's value stands.
type HeaderSource struct {
	// prefix stands in front of what the Secret holds. Example: "Bearer ". Absent:
	// nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[^\r\n\x00]*$`
	Prefix string `json:"prefix,omitempty"`

	// secret is a key of a Secret of the LoadTest's namespace.
	// +required
	Secret KeyReference `json:"secret"`
}
