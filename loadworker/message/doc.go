// Package message turns JSON into the messages of gRPC's methods, and back, by descriptors
// that the user gives, or that the target sent.
//
//	FileDescriptorSet ── Read ─┬─▶ Descriptors ── Method ──▶ Encode   JSON    → protobuf
//	            files ── Sent ─┘                            Decode   protobuf → JSON
//	                                                        Pattern  JSON with variables: values → protobuf
//
// The JSON is protobuf's own mapping of it, by its own library. Errors say which field is
// wrong, and show nothing of what a row of data or a target put there.
//
// It imports package failure, and nothing else of ours.
package message
