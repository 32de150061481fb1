package groundtruth

import "fmt"

// streaming is a stream that a loop writes, in chunks of HTTP/1.1.
type streaming struct {
	arrival arrival
	wait    int64     // from the request until its head is due, from which its steps count
	play    *playback // nil: the head is not written
	step    step      // the one that is written next, or is being written
	begun   bool      // it is being written, and
	rest    []byte    // that is left of it
}

// begin makes the head the first step: that of the stream, unless it has another.
func (s *streaming) begin(seed uint64, head []byte) {
	stream := s.arrival.route.reply.Stream
	s.play = stream.play(seed, s.arrival.number)
	if head == nil {
		head = stream.head()
	}
	s.rest, s.begun = head, true
	s.arrival.route.streams.begun.Add(1)
}

// due is when the next step is.
func (s *streaming) due() int64 { return s.arrival.at + s.wait + int64(s.step.at) }

// take makes bytes of the next step, unless it is being written.
func (s *streaming) take() {
	if s.begun {
		return
	}
	s.begun, s.rest = true, nil
	stream := s.arrival.route.reply.Stream
	messages := stream.Format == WebSocket
	switch {
	case len(s.step.bytes) == 0:
	case messages:
		s.rest = textFrame(s.step.bytes)
	default:
		s.rest = fmt.Appendf(nil, "%x\r\n%s\r\n", len(s.step.bytes), s.step.bytes)
	}
	switch {
	case !s.step.end || stream.Break != Keep:
	case messages:
		s.rest = append(s.rest, closeFrame...)
	default:
		s.rest = append(s.rest, "0\r\n\r\n"...)
	}
}

// unfinished counts a stream that ends before its end; nil is none.
func (s *streaming) unfinished() {
	if s != nil && s.play != nil {
		s.arrival.route.streams.unfinished.Add(1)
	}
}
