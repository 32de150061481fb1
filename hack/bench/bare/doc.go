// Command bare is a net/http server that always says the same, and does nothing
// else: what a service of this machine could answer at most. Benchmarks start it
// in a process of its own.
//
//	stdin                                       stdout
//	{"status":…,"header":{…},"body":"base64"}
//	                                            {"url":"http://127.0.0.1:…"}
//	end of input: the server ends
//
// The body of a request is read, and thrown away. It imports nothing of this
// module.
package main
