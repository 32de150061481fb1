// Command crdtext has each field of a definition described once, and those of the status, which the operator
// writes, and those of types of Kubernetes, by one sentence: docs/reference/api.md has the others. What the rest
// of a field's schema implies is left out. Types that are used in several places, such as a target, come with all
// their descriptions at each of them; a definition that is larger than 256 KB cannot be applied by plain kubectl
// apply, which keeps the whole of it in an annotation. Run it by `make generate`.
package main
