// Where tests find CRDs that are not ours: see doc.go. Nothing is imported from
// these modules, so that go mod tidy would drop them.
module github.com/loadtest-dev/loadtest-operator/hack/crds

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
