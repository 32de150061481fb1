// Package nevertargets has what can never be a target, whatever an administrator allows, and each
// place of a spec where it could stand.
package nevertargets
