// Package timer waits until an instant, as exactly as the system allows. It imports nothing of ours.
package timer
