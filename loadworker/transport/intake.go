package transport

import "net/http"

// intake is what comes in on a connection: a parser, and what it must be shown
// again.
type intake struct {
	parser parser
	held   []byte // the beginning of a line of which the rest has yet to come
}

// begin prepares for the response to a request.
func (i *intake) begin(r *Request) {
	i.parser.begin(r.Method == http.MethodHead, r.Keep)
}

// feed takes what was read, which belongs to the caller again afterwards. No
// bytes are the end of the connection.
func (i *intake) feed(in []byte) error {
	if len(in) == 0 {
		return i.parser.end()
	}
	if len(i.held) > 0 {
		i.held = append(i.held, in...)
		in = i.held
	}
	n, err := i.parser.parse(in)
	if n == len(in) {
		i.held = nil // memory is held only as long as it must
	} else {
		i.held = append(i.held[:0], in[n:]...)
	}
	return err
}

// reusable says that the connection may carry another request. Bytes after the
// response belong to no request: what came after them could not be trusted.
func (i *intake) reusable() bool { return i.parser.reusable() && len(i.held) == 0 }
