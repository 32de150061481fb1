// Package same compares values in tests and says where they differ, in one form.
// It is test/same for the modules that do without the main one.
package same
