// Package links makes links from a run to the administrator's dashboards and traces.
//
//	a file, or a ConfigMap ─ Parse ─▶ Templates ─ Run, Trace ─▶ addresses
//
// The templates are the administrator's and the values a tenant's. A template is of http or https, and its
// host has no field: where a link leads to does not depend on a run. A value that is not what Kubernetes or
// a tracer would accept makes no link, and all others are escaped.
//
// It is pure: it may import the API and what reads YAML.
package links
