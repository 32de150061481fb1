// Package dial opens connections to one target, and only to addresses that the
// policy permits.
//
//	Dialer ── resolver (cached addresses) ── Policy.Check ── TCP ── TLS
//
// Openings bound what of the processor opening connections takes, and leave out those that wait
// for the target. A Session lets the connections of one place resume TLS.
//
// The policy is checked on the address that is about to be connected to, after
// name resolution, so that no name can lead around it. A failure is a
// *failure.Error that names its phase. The package has nothing of HTTP but the
// protocol that is agreed in the TLS handshake.
package dial
