// Command calls is a target of gRPC, by grpc-go, which counts what it answers. Benchmarks start
// it in a process of its own.
//
//	stdin           stdout
//	                {"url":…}
//	end of input    {"requests":…,"answered":…}
//
// It serves grpc.health.v1.Health/Check: any service is serving. A call that names none is refused
// with INVALID_ARGUMENT, so that a generator that sends no message is not measured beside others. What is
// answered with OK is counted as answered. The ground-truth server is none for this: its replies
// are no messages, which peers decode.
package main
