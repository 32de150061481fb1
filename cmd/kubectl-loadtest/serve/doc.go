// Package serve starts a reference system inside this process, on a store in memory and
// a loopback address: for trying, not for figures. It shares the machine with the
// workers, and has none of the databases that make its published variants differ.
package serve
