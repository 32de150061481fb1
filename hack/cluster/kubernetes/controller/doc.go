// Package controller runs a controller that reconciles the whole state at once:
//
//	informers ─▶ queue of one key ─▶ Reconcile
//	                 ▲                   │
//	                 └── after an error ─┘
//
// It is about no kind of object.
package controller
