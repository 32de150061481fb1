// Package login keeps the token by which requests log in to a target: it obtains one (OAuth 2.0,
// RFC 6749), and renews it before it ends, without a request waiting for it.
//
//	token.go     which token is sent now, and when the next is obtained
//	exchange.go  how one is obtained, by golang.org/x/oauth2 over a client of package transport
//	signature.go how requests are signed instead, by the signer of the AWS SDK
//
// The token is in the memory of the process alone. No error has any of what a server of tokens
// answered but its status and the codes of RFC 6749.
package login
