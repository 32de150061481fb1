package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OtherTarget is a target beside spec.target: the requests are sent to it that name it, or all of
// them in turn with spec.target, if spec.versus names it.
//
// +kubebuilder:validation:XValidation:rule="has(self.url) != has(self.service)",message="exactly one of url and service must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || (has(self.url) ? self.url.startsWith('https://') : has(self.service) && has(self.service.scheme) && self.service.scheme == 'HTTPS')",fieldPath=".tls",reason="FieldValueForbidden",message="tls must not be set for a target that is not https"
// +kubebuilder:validation:XValidation:rule="!has(self.proxy) || !has(self.protocol) || self.protocol != 'HTTP/2' || (has(self.url) ? self.url.startsWith('https://') : has(self.service) && has(self.service.scheme) && self.service.scheme == 'HTTPS')",fieldPath=".proxy",reason="FieldValueForbidden",message="proxy must not be set with HTTP/2 for a target that is not https"
type OtherTarget struct {
	// name is what requests and reports call the target. Example: identity.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?$`
	Name string `json:"name"`

	// url is the base of every request to it, without a path. The administrator decides which
	// hosts are allowed. Example: http://keycloak:8080.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@ ]+/?$')",message="url must be http:// or https:// with a host and without a path, such as http://shortener:8080"
	URL string `json:"url,omitempty"`

	// service is a Service of the LoadTest's own namespace.
	// +optional
	Service *ServiceReference `json:"service,omitempty"`

	// protocol is the version of HTTP. Default HTTP/1.1.
	// +optional
	Protocol Protocol `json:"protocol,omitempty"`

	// disableKeepAlive opens a new connection for each request. Default false.
	// +optional
	DisableKeepAlive bool `json:"disableKeepAlive,omitempty"`

	// tls is how an https target is verified, and which certificate the client shows.
	// Absent: it is verified by the certificates that the worker image trusts.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// proxy is an HTTP proxy through which requests go. Absent: they go to the target itself.
	// +optional
	Proxy *Proxy `json:"proxy,omitempty"`

	// timeout bounds each request, unless it has its own. It must not be set if versus names
	// the target. Default 30s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1ms'), duration(self), duration('10m')].isSorted()",message="timeout must be a time from 1ms to 10m, such as 30s"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// headers are sent with every request to it; the headers of spec.target are not. A request's
	// own header of the same name replaces one of these.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Headers []Header `json:"headers,omitempty"`

	// login is one of spec.logins, by name. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	Login string `json:"login,omitempty"`
}

// Target is the same as the type of spec.target.
func (o *OtherTarget) Target() *Target {
	return &Target{
		URL: o.URL, Service: o.Service, Protocol: o.Protocol, DisableKeepAlive: o.DisableKeepAlive, TLS: o.TLS, Proxy: o.Proxy,
		Timeout: o.Timeout, Headers: o.Headers, Login: o.Login,
	}
}

// OtherTargetStatus is where the requests go that name one of spec.otherTargets.
type OtherTargetStatus struct {
	// name is that in spec.otherTargets.
	// +required
	// +kubebuilder:validation:MaxLength=24
	Name string `json:"name"`

	// targetURL is scheme and host, as status.targetURL is of spec.target.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	TargetURL string `json:"targetURL,omitempty"`
}
