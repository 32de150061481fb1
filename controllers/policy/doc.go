// Package policy applies the administrator's configuration: it reads and checks the
// document, and says for each namespace what a LoadTest may do. It is pure.
//
//	policy.Load   a document → a Policy, or an error that names the field and the fix
//	Policy.For    → the Rules of one namespace, which Decide and the plan ask
package policy
