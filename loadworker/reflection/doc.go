// Package reflection asks a target for the descriptors of its services, by
// grpc.reflection.v1.ServerReflection, or v1alpha where that is all there is.
//
//	services ──▶ Files ─┬─ file_containing_symbol, for each service
//	                    ├─ file_by_filename, for each import that did not come by itself
//	                    └─ bounds: bytes, files, parts
//
// What comes is input of the target: nothing is unmarshalled before its parts are counted,
// and errors show none of it but by failure.Message. It goes over grpc-go's client, whose
// connection the caller opens, so that it leads where the caller's do.
//
// It imports packages failure and measure, and nothing else of ours.
package reflection
