// Package why says what was at its limit in the first step whose load was not kept, and in none that
// was kept.
//
//	steps that were kept, the first that was not ─ Sentence ─▶ "Kept up to 380/s; from there …"
//
// It says what was measured at the same time, never that the one is the cause of the other. A limit
// counts as reached at 95 % of it. Of processors that is the mean of the readings of the pod with the
// highest; what the resource metrics API does not tell, such as how often a container was throttled
// for a moment, is not known.
//
// The package is pure: it may import the API and text and the standard library.
package why
