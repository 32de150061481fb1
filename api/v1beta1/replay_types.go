package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Replay sends the requests of an access log to the target, each as long after the beginning of
// the step as it came after the beginning of the window of the log, divided by the speed.
//
// The workers read the file, each all of it, and send a share of its lines; the operator never
// reads it. Method and path come from the line, all else from the request in spec.requests to
// which it is routed. Nothing is sent to a host that the log names: requests go to spec.target.
//
// +kubebuilder:validation:XValidation:rule="!has(self.fields) || self.fields.matches('^[a-z]+=[^,=]+(,[a-z]+=[^,=]+)*$')",fieldPath=".fields",message="fields must be KIND=FIELD with commas between, such as time=ts,method=verb,path=url"
type Replay struct {
	// from is where the log is, of Apache, Nginx, Envoy or a load balancer, or a HAR file. gzip may
	// have compressed it. Example: {volume: {claim: loadtest-logs, path: access.log.gz}}.
	// +required
	From Content `json:"from"`

	// fields names the fields of a log in JSON that is not of Envoy, Caddy, Traefik, Google Cloud
	// or Nginx: time, and method and path or request. Example:
	// time=ts,method=verb,path=url.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Fields string `json:"fields,omitempty"`

	// start is the instant of the log with which the replay begins. Default: the time of the
	// first request.
	// +optional
	Start *metav1.Time `json:"start,omitempty"`

	// speed is how many times as fast as it was recorded the log is sent. Default 1.
	// +optional
	Speed *Decimal `json:"speed,omitempty"`

	// duration is how long the step lasts: it sends duration x speed of the log. Example: 10m.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1s'), duration(self), duration('24h')].isSorted()",message="duration must be a time from 1s to 24h, such as 10m"
	Duration metav1.Duration `json:"duration"`

	// methods are sent; lines with others are left out, and counted. A log has no bodies: one of
	// spec.requests is sent with all methods but GET and HEAD. Default: GET and HEAD.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=7
	Methods []ReplayMethod `json:"methods,omitempty"`

	// routes say of which of spec.requests a line is: of the first route that it matches. Other
	// lines are left out, and counted. Absent: all are of the only request. Example: [{path:
	// ^/items/, request: item}, {request: rest}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Routes []ReplayRoute `json:"routes,omitempty"`

	// maxRate is the most requests per second that are due, over all workers: a log with a second
	// that has more is refused before anything is sent. Without spec.parallelism, the number of
	// workers follows from it. Default 2500 for each of spec.parallelism workers, or for one.
	// +optional
	MaxRate *Decimal `json:"maxRate,omitempty"`
}

// ReplayMethod is a method of a line that is sent.
//
// +kubebuilder:validation:Enum=GET;HEAD;POST;PUT;PATCH;DELETE;OPTIONS
type ReplayMethod string

// ReplayRoute is which of spec.requests some lines are.
type ReplayRoute struct {
	// path is a regular expression (RE2) that is looked for in the path of a line, with its query.
	// Absent: all match.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Path string `json:"path,omitempty"`

	// host is the host that a line must have, in lower case. Absent: any, or none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host,omitempty"`

	// to goes instead of what path matches, with $1 for its first group. Absent: the path stays.
	// Example: {path: ^/v1/(.*), to: /v2/$1, request: rest}.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[!-"$-~]*$`
	To string `json:"to,omitempty"`

	// request is the name of one of spec.requests, with http.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request"`
}

// ReplayResult is what became of the lines of a log that the workers read for a step: due of the
// result are sent, and the rest is left out. A worker reads on behind the window for as long as lines may be
// out of order.
type ReplayResult struct {
	// lines is the number of lines that were read, without blank ones.
	Lines int64 `json:"lines"`
	// notParsed is the number of lines that are no request.
	NotParsed int64 `json:"notParsed"`
	// otherMethods is the number of requests whose method is not in spec.replay.methods.
	OtherMethods int64 `json:"otherMethods"`
	// notRouted is the number of requests that match none of spec.replay.routes.
	NotRouted int64 `json:"notRouted"`
	// outOfOrder is the number of requests that were too far behind later ones in the log to be sorted.
	OutOfOrder int64 `json:"outOfOrder"`
	// outsideWindow is the number of requests that came before the window of the log, or after it.
	OutsideWindow int64 `json:"outsideWindow"`
	// mistake says why the first line of a worker that is no request is none. Absent: all are requests.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Mistake string `json:"mistake,omitempty"`
}
