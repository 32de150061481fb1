// Package plan turns a LoadTest into what will run: its steps, how many workers
// share them, and each worker's share.
//
//	LoadTestSpec ─ Steps ──────▶ []Step        one for each rung, rest, step
//	             ─ Workers ────▶ W
//	             ─ Assignments ▶ W x Assignment (shares: first=w, stride=W)
//	             ─ Files ──────▶ what the workers need of ConfigMaps and Secrets
//	             ─ Validate ───▶ what only the operator can refuse
//
// It is pure: the same LoadTest gives the same plan, in any process, at any
// time. It may import the API and its metav1, the session protocol and the standard library;
// no client, clock, logger or source of randomness.
package plan
