// Package runs is what one person does with the operator: runs that are counted, that cannot
// work, that are stopped, scheduled, typed by the plugin or a page of the documents, that call gRPC,
// and that go on while the target is rolled out. Its tests run beside each other.
package runs
