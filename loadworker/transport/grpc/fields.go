package grpc

import (
	"net/url"
	"strings"
)

// Fields are what a call needs of a header block. The zero value is that of a block without
// them.
type Fields struct {
	// KeepMessage has grpc-message kept.
	KeepMessage bool

	content presence
	gzip    presence // grpc-encoding; invalid: it is another one
	status  presence
	code    int8
	message string
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
	case "grpc-encoding":
		f.gzip = f.gzip.and(value == Encoding)
	case "grpc-status":
		code, ok := parseStatus(value)
		f.status, f.code = f.status.and(ok), code
	case "grpc-message":
		if f.KeepMessage {
			f.message = parseMessage(value)
		}
	}
}

// parseMessage decodes a grpc-message. One that is not percent-encoded is as it came, as
// the specification asks of a client.
func parseMessage(value string) string {
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
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
