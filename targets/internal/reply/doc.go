// Package reply writes the targets' answers: JSON, complete or not at all.
//
// It imports the standard library only.
package reply
