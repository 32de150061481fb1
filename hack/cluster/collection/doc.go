// Package collection looks at whole collections of the API server and waits for
// a change of one: what a controller needs that keeps nothing in memory between
// two looks.
//
//	Repeat ─▶ pass: Get, Get, … ─▶ what is to be done ─▶ Change ─▶ the next pass
//
// It speaks HTTP, knows no kind of object and imports no other package of ours.
package collection
