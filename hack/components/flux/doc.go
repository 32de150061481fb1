// Package flux checks what Flux makes of our objects, with kstatus, the library by which its
// controllers tell whether an object is ready.
//
// A test that has something to show sets the attribute "seen", which makes it a check of
// make e2e SUITE=ecosystem. Of the same go.mod that suite builds kustomize-controller; crds
// pins the module that has the CustomResourceDefinitions of its sources.
package flux
