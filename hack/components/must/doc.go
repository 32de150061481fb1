// Package must ends a test at an error that the test is not about.
// It is test/must for the modules that do without the main one.
package must
