package grpc

import "strings"

// Fields are what a call needs of a header block. The zero value is that of a block without
// them.
type Fields struct {
	content presence
	status  presence
	code    int8
}

// presence says whether a field is there, and as it should be.
type presence uint8

const (
	absent presence = iota
	valid
	invalid
)

// Add takes a field of the block.
func (f *Fields) Add(name, value string) {
	switch name {
	case "content-type":
		f.content = f.content.and(isGRPC(value))
	case "grpc-status":
		code, ok := parseStatus(value)
		f.status, f.code = f.status.and(ok), code
	}
}

// and is what a field is after one more of its name: it must not be repeated.
func (p presence) and(ok bool) presence {
	if p == absent && ok {
		return valid
	}
	return invalid
}

// isGRPC reports whether a content type is that of messages in protobuf.
func isGRPC(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/grpc", "application/grpc+proto":
		return true
	}
	return false
}
