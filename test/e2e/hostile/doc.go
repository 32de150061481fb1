// Command hostile attacks the coordinator from a pod, and is a target that responds as no
// server should:
//
//	COORDINATOR   address of the coordinator; empty: it is a target alone
//	CA            certificates that the coordinator is verified by
//	TOKEN, RUN    token of a worker and the UID of its run, for attacks that need a session
//
//	:8080  GET /NAME    the responses of target.go, most of them without end
//	:8082  gRPC         the answers of calls.go, by a part of the message
//	:8081  GET /attacks {"idle": {"tried": 1500, "ended": 476, ...}}: what became of each
//	                    kind of attack so far
//
// An attack is one connection, and begins anew when the coordinator has ended it. It goes
// on until the process ends.
package main
