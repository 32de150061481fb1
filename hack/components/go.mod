module github.com/loadtest-dev/loadtest-operator/hack/components

go 1.26.0

require github.com/google/go-cmp v0.7.0
