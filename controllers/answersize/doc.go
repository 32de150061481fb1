// Package answersize bounds what the API server sends for one request that is made past the cache: pods and
// EndpointSlices of a target are as large as who may write them makes them, and a page of many does not fit
// the operator's memory.
//
//	Wrap        has a client end an answer that is too large
//	ErrTooLarge what it returns then: the way out is a smaller page
//
// It is a leaf: it may import the standard library only.
package answersize
