// Package markdown writes the report of a LoadTest for a pull request or an issue:
// the verdict, thresholds, what needs attention, and tables over the steps.
//
// It reads the object by package report, and nothing else. What comes from a
// target or a user is escaped, so that it neither breaks a table nor becomes markup.
package markdown
