// Package archive keeps images as docker-save tar files, the form that
// containerd, Docker and kind load. It owns when such a file is rewritten: only
// when the image in it is another one.
//
// It imports no other package of this module.
package archive
