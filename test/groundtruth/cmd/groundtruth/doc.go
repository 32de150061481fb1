// Command groundtruth is the ground-truth server in a process of its own. It prints
// one line of JSON that says where it listens, and ends when its standard input
// does, so that it never outlives its parent.
package main
