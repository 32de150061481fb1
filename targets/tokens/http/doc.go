// Package http serves tokens as OpenAI's API does: POST /v1/chat/completions and
// /v1/completions, whole or as server-sent events, with its errors. An answer always has as
// many tokens as were asked for, so that the load is known beforehand; of the parameters of a
// request, those that would change the words of an answer are ignored.
//
//	handler.go   the pages
//	request.go   what a request asks for, and what is wrong with it
//	bodies.go    the memory that requests may take while they are read
//	complete.go  the answer to it, whole or as a stream
//	document.go  the documents of an answer
//	problem.go   errors in OpenAI's form
package http
