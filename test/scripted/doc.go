// Package scripted has servers for the tests of HTTP clients: each connection that
// they accept follows a script, down to the bytes and to how it is closed.
//
//	Serve, ServeTLS  servers whose n-th connection follows the n-th script
//	ServeAll         a server all of whose connections follow one
//	Protocols        a server of net/http for each protocol that a client speaks
//	NewProxy         a proxy on the way to a server
package scripted
