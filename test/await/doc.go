// Package await waits for what a test expects, in one way and for one length of time.
//
//	await.True(t, "the standby is ready", standby.ready)
//	await.Until(t, "the status has the verdict", func() error { … })
//
// A wait here has one limit, Patience: the time after which what is waited for will never come.
// No test asserts how long anything took; what a test says of time it holds in virtual time.
// In a bubble of testing/synctest the waits take no time.
package await
