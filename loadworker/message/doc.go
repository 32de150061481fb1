// Package message turns JSON into the messages of gRPC's methods, and back, by descriptors
// that the user gives.
//
//	FileDescriptorSet ── Read ──▶ Descriptors ── Method ──▶ Encode  JSON    → protobuf
//	                                                       Decode  protobuf → JSON
//
// The JSON is protobuf's own mapping of it, by its own library. Errors say which field is
// wrong, and show nothing of what a row of data or a target put there.
//
// It imports package failure, and nothing else of ours.
package message
