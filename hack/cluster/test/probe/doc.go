// Command probe is what the pods of the cluster's test run: it serves its host
// name, asks another one for its, tries or holds a connection, resolves a name,
// or prints a file.
// It imports the standard library only.
package main
