// Package pressure is what the machine itself says of how busy it was. A test that finds a
// run without a verdict since its generator was late believes that only if the machine says
// so, too: what is under test must not excuse itself.
//
//	meter := pressure.Start()
//	…                            // the check
//	if reading := meter.Read(); reading.Busy() { … }
//
// Excuses has those of a package, for its TestMain.
//
// It reads two files of Linux: /proc/pressure/cpu, for how long something that could have
// run waited for a processor; and /proc/stat, for how long the host of a virtual machine gave
// its processors to others, which is no waiting that its kernel sees. Where the first is
// missing nothing is known, and nothing is excused.
//
// An excuse judges nothing. TooMany says when a suite has judged too little.
package pressure
