// Package memory keeps links and clicks in memory: for tests, and for trying a load
// test without a database. Nothing outlives the process.
package memory
