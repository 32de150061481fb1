// Command driver is one load worker without an operator: it assembles an assignment
// as a worker does, runs its steps on command and writes what they measured.
// Benchmarks start it in a process of its own.
//
//	stdin                             stdout
//	assignment as one line of JSON
//	                                  {"ready":true}
//	start <step> <instant>
//	                                  {"step":…,"measurement":{…}}
//	…                                 …
//	end of input: the driver ends
//
// Connections of the first step are open when it is ready; there is no preflight and
// no setup. The instant is of the kernel's monotonic clock, in nanoseconds, so that
// the records of the ground-truth server can be compared with it. As in a session, a
// snapshot is taken and encoded every second: that is part of a worker's cost.
package main
