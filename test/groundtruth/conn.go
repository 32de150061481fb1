package groundtruth

// conn is one connection, of one loop.
type conn struct {
	fd   int
	in   []byte // read and not served: part of a request, or requests that wait
	busy bool   // a request is being answered
	came int64  // when the kernel had received what was read last; 0: not known
	gone bool   // closed; a timer may still hold it

	reply   *Reply
	written int // bytes of the reply
	last    bool
	place   int  // of its record
	blocked bool // waits until it can be written to

	streaming *streaming // nil: the reply is no stream
	upgrade   []byte     // the answer to its request for a WebSocket; what comes after that is no request
}
