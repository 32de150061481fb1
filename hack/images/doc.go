// Command images builds the container images of this repository as
// docker-save tar files, without Docker and without an image registry.
//
//	recipe   what each image is made of: a pure list
//	   │
//	   ├─ goimage   a static Go binary ───┐
//	   │                                  ├─ rootfs   one layer, one config ── archive   bin/images/NAME.tar
//	   └─ debimage  Debian packages ──────┘      (and, for one, the jars of package kafka, or the programs of hack/components)
//
// Package release pushes images for several platforms, and the chart, to a registry.
//
// Beside them, prerequisite looks for the host's programs, and kafka keeps the
// jars of a broker, also for tests that run one on the host.
//
// The same inputs give the same image: entries are sorted, owners and modes
// are set, and every timestamp is zero. A tar whose image has not changed is
// left untouched, so that what depends on the file need not be redone.
//
// It is a module of its own, so that the libraries for images stay out of the
// operator's dependencies; of this repository it imports hack/components alone. The local
// cluster makes its own images with rootfs and archive.
package main
