// Package identity finds, for the coordinator, the worker of a run that a token belongs to.
// Nothing that another namespace can write decides it:
//
//	claims of the token    which pod it says that it is bound to, not yet believed
//	cache of the operator  pod ─▶ its Job ─▶ its LoadTest, all of one namespace,
//	                       each found by name, compared by UID and its controller
//	TokenReview            the API server confirms that the token is bound to the pod
//
// The review comes last, since it costs the API server something: a token that names
// no worker's pod is refused without one.
//
//	token_verification.go  the three in this order, of which the last is asked by few at
//	                       once; and an identity that is checked again
//	claims.go              what a token says of itself
//	owner_chain.go         from a pod to its LoadTest
//
// It has a client of the API server, which the coordinator must not have.
package identity
