package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Prometheus answers queries about the time of a step. LoadTests name queries, and see their
// values; they say neither what is asked nor where. Its token and certificates are files of the
// operator's pods, as the keys of Results.
type Prometheus struct {
	// url is where its API is, without /api/v1. Example: "https://prometheus.monitoring:9090".
	URL string `json:"url"`

	// timeout bounds an answer, for which the end of a step waits. Default 5s, at most 10s.
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// queries are what may be asked, at most 64.
	Queries []Query `json:"queries,omitempty"`
}

// Query is a question that Prometheus answers with one number.
type Query struct {
	// name is the name that LoadTests give, and what messages call the value. Of queries with the
	// same name, the first that applies to a namespace counts there. Example: database connections.
	Name string `json:"name"`

	// namespaces are as in TargetRule.
	Namespaces []string `json:"namespaces,omitempty"`

	// expression is in PromQL, and is evaluated once, at the end of a step's window. In it,
	// $window stands for the length of that, and in quotes $namespace for the LoadTest's namespace
	// and $service for the target's Service.
	// Example: max(max_over_time(pg_connections{namespace="$namespace"}[$window])).
	Expression string `json:"expression"`

	// limit is the value at which what it counts is used up. A run whose load was not kept says
	// so if the value was at 95 % of it or more. Such a query is asked for every LoadTest of its
	// namespaces, of those with a limit the first four. Example: 20.
	Limit *intstr.IntOrString `json:"limit,omitempty"`
}
