// Package settingstest is what tests of a target's settings share.
package settingstest
