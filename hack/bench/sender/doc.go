// Command sender sends a request at each of many instants, and does nothing else: it measures nothing, judges no
// response and reads no log while it sends. Benchmarks start it in a process of its own, to compare: how late its
// requests come is what this machine, its kernel and the server make of a generator at least.
//
//	stdin                                            stdout
//	{"address":…,"connections":…,"times":file,"speed":…}
//	                                                 {"ready":true}
//	an instant of the kernel's monotonic clock
//	                                                 {"sent":…}
//
// The file has the times of the requests since that instant, in nanoseconds, as little-endian numbers of 64 bits
// that ascend; at speed 2 they take half of the time.
package main
