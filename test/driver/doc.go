// Command driver is one load worker without an operator: it runs the steps of
// an assignment through attack.Runner, as the worker's session does, and says
// what they measured. Benchmarks start it in a process of its own.
//
//	stdin                             stdout
//	assignment as one line of JSON
//	                                  {"ready":true}
//	start <step> <instant>
//	                                  {"step":…,"measurement":{…}}
//	…                                 …
//	end of input: the driver ends
//
// Connections of the first step are open when it says that it is ready. The
// instant is of the kernel's monotonic clock, in nanoseconds, so that what the
// ground-truth server noted can be compared with it. As in a session, a snapshot
// is taken and encoded every second: that is part of what a worker costs.
package main
