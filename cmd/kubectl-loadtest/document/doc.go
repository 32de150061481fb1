// Package document reads the objects of YAML and JSON files, and says on which line of its file a
// field of an object stands. A file may have several documents, Lists among them, and may be
// compressed with gzip.
package document
