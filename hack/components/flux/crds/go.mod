// Flux's source-controller: the CustomResourceDefinitions of the sources that its
// kustomize-controller reads. Nothing of it is compiled.
module github.com/loadtest-dev/loadtest-operator/hack/components/flux/crds

go 1.26.0

require github.com/fluxcd/source-controller v1.9.5
