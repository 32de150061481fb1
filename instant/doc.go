// Package instant compares instants, as min and max compare numbers. It imports the standard
// library only.
package instant
