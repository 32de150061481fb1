module github.com/loadtest-dev/loadtest-operator/hack/cluster

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	golang.org/x/sys v0.40.0
	sigs.k8s.io/yaml v1.6.0
)

require go.yaml.in/yaml/v2 v2.4.2 // indirect
