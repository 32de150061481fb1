// Package flood has what a client may send over HTTP/2 without end, frame by frame, to a
// server that has no session with it:
//
//	Dial ─► Conn ─► All()[name] again and again ─► an error: the server has had enough
//
// The coordinator's tests send it on this machine, and command hostile from a pod.
package flood
