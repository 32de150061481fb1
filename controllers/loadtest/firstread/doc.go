// Package firstread has an informer that is of use before it has read everything: it lists first
// the objects that a process that takes over cannot do without, and reads all others in small
// pages while it watches. Where thousands of objects of a megabyte are stored, reading them
// takes minutes, and the API server sends each as JSON, whatever is kept of it.
package firstread
