// Package rights compares what an account may do with what it did, in both directions:
//
//	audit log of the API server ─► Requests ─┐
//	roles that are bound to it  ─► Grants   ─┴─► Compare ─► Comparison
//
// A right is a verb on a resource, in all namespaces or in one, and on all objects or on
// one of a name. It is unused if no request needed it; a request is refused if no right
// covers it. What the API server forbade although a right covers it, it forbade before it
// had read its own roles, or after they were changed.
//
// It imports Kubernetes' types, and no client.
package rights
