// Command counter is a target whose truth is known: an HTTP server that counts the
// requests that it received, whatever a load generator says that it sent.
//
//	:8080  GET /NAME[?delay=3s]     counts under NAME, and then answers 200; the delay may
//	                                be a header
//	       GET /NAME?stores=N       stores N times, too: 0 loses, 2 doubles
//	       GET /NAME/stored         {"stored": 240}
//	       POST /NAME/echo          sends back the body, and the header X-Echo
//	:8081  GET /counts              {"NAME": {"received": 240, "wrong": 0}}
//	       PUT /mode?is=MODE        ok, wrong, hang or refuse
//	       PUT /exit                ends the process, as a crash does
//
// A count is the length of a file, to which each request appends a byte before it is
// answered. So a count outlives the process, as far as the volume does, and no
// request is answered that is not counted.
//
// It uses the standard library only.
package main
