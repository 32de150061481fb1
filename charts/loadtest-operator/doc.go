// Package chart holds no code, only the tests of the chart beside it: that it
// installs the same objects as config/default, that it refuses values that
// cannot work, that an API server takes what it renders, and that its README is
// up to date.
//
// The tests run helm and kustomize, from bin/ or from where HELM and KUSTOMIZE
// say. They may import api and test/apiserver of this module.
package chart
