// Package uitest has runs to show in the tests of the pages: finished and running ones, one
// whose every text is hostile, and a backend that notes what was asked of it.
package uitest
