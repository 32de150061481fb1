module github.com/loadtest-dev/loadtest-operator/hack/cluster

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/go-containerregistry v0.20.6
	github.com/loadtest-dev/loadtest-operator/hack/components v0.0.0
	github.com/loadtest-dev/loadtest-operator/hack/images v0.0.0
	golang.org/x/sync v0.24.0
	golang.org/x/sys v0.49.0
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/containerd/stargz-snapshotter/estargz v0.16.3 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	github.com/vbatts/tar-split v0.12.1 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
)

replace (
	github.com/loadtest-dev/loadtest-operator/hack/components => ../components
	github.com/loadtest-dev/loadtest-operator/hack/images => ../images
)
