// Package image writes and reads image archives in the form of docker save,
// which containerd imports: the pause image is made here, since nothing can
// be pulled, and the names in other archives tell what a node has already.
//
//	manifest.json ─▶ <digest>.json (configuration) ─▶ <digest>.tar (one layer)
//
// An archive depends on its content only: no time, user or order of a map is
// in it. It imports the standard library only.
package image
