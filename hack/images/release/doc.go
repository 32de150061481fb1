// Package release pushes what a version consists of to a registry: images for several
// platforms, and the chart that names them.
//
//	release.go   where to, under which version, and what is said of it
//	images.go    an image for each platform, and the index of them
//	chart.go     the chart's files, with the version and the images' names in them
//	sbom.go      what is inside an image, attached to it
//	signature.go signatures as cosign reads them
//	artifact.go  blobs and a manifest that are no image
//
// The same commit gives the same digests: nothing depends on the time or on the registry,
// but for the names of the images in the chart; a signature is made once. Plain HTTP is spoken to loopback alone.
//
// It imports no other package of this module.
package release
