// Package same compares values in tests and says where they differ, in one form.
//
//	same.As(t, "status", want, got)
//
// It is for tests only and imports no other package of ours.
package same
