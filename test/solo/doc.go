// Package solo is a load worker without an operator: it makes of an assignment
// what the worker's session makes of it, in the process of a benchmark or test.
package solo
