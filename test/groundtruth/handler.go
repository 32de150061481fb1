package groundtruth

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// NumberHeader is the header field of a request with its number, where that cannot be in the
// path: the path of a call of gRPC is its method. Event loops read it, spelled so, where the path ends with no number.
const NumberHeader = "Number"

// response is a reply in terms of net/http. The zero value is none: the stream is reset, or
// ended by a Frame, or over HTTP/1.1 the connection is reset.
type response struct {
	*http.Response
	body []byte
}

var errNotWhole = errors.New("must be a whole response or a reset, which is all that net/http can give")

// translate makes the replies responses.
func (s *Server) translate() error {
	for name, r := range s.routes {
		if r.reply.aborts() || r.reply.Stream != nil {
			continue
		}
		in := bufio.NewReader(bytes.NewReader(r.reply.Bytes))
		whole, err := http.ReadResponse(in, nil)
		if err == nil {
			r.response.Response = whole
			r.response.body, err = io.ReadAll(whole.Body)
		}
		if err != nil || in.Buffered() > 0 || r.reply.End != Keep {
			return fmt.Errorf("route %q: %w", name, errNotWhole)
		}
	}
	return nil
}

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	now := Now()
	route, number := s.resolve([]byte(r.URL.EscapedPath()))
	if n, err := strconv.ParseInt(r.Header.Get(NumberHeader), 10, 64); err == nil {
		number = n
	}
	a := arrival{route, number, now, s.begin(route, number, now)}
	whole, err := s.answer(w, r, &a)
	if err == nil {
		s.end(a.place)
	} else {
		s.counts.inFlight.Add(-1)
	}
	if !whole {
		panic(http.ErrAbortHandler) // over HTTP/2 it resets the stream, unless a framer does otherwise
	}
}

// errUnanswered is the error of a request that gets no answer.
var errUnanswered = errors.New("not answered")

// answer does with a request as the script and its route say. The response is whole if it
// ends in order.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, a *arrival) (whole bool, err error) {
	switch {
	case s.happening(Resets, a.at):
		linkOf(r.Context()).reset()
		return false, errUnanswered
	case s.happening(GoAway, a.at):
		// Over HTTP/2, it is a GOAWAY with the number of the last stream that has begun.
		w.Header().Set("Connection", "close")
	}
	if err := s.take(r); err != nil {
		return false, err
	}
	wait := s.draw(a.route)
	if wait > 0 && !s.library.wait(r.Context(), a.at+wait) {
		return false, errUnanswered
	}
	switch {
	case a.route.reply.Stream != nil:
		return s.stream(w, r, a, a.at+wait)
	case a.route.response.Response != nil:
		err := s.respond(w, r, a.route)
		return err == nil, err
	}
	abort(r)
	return false, nil
}

// abort resets the connection of HTTP/1.1. A stream of HTTP/2 is reset by the handler's end.
func abort(r *http.Request) {
	if r.ProtoMajor == 1 {
		linkOf(r.Context()).reset()
	}
}

// take reads the body of a request.
func (s *Server) take(r *http.Request) error {
	for {
		piece, slow := int64(window), s.happening(SlowReads, Now())
		if slow {
			piece = slowPiece
		}
		n, err := io.CopyN(io.Discard, r.Body, piece)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case slow && n > 0 && !s.library.wait(r.Context(), Now()+int64(slowEvery)):
			return errUnanswered
		}
	}
}

// respond writes a response, in pieces if it is slow.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, route *route) error {
	header := w.Header()
	for name, values := range route.response.Header {
		header[name] = values
	}
	header["Date"] = nil
	for name, values := range route.response.Trailer {
		header[http.TrailerPrefix+name] = values
	}
	w.WriteHeader(route.response.StatusCode)
	control, rest := http.NewResponseController(w), route.response.body
	for {
		piece := rest
		if n := route.reply.Piece; n > 0 {
			piece = rest[:min(n, len(rest))]
		}
		if _, err := w.Write(piece); err != nil && len(piece) > 0 {
			return err
		}
		// The record says when the last byte had left, and not when the library was given it.
		if err := control.Flush(); err != nil {
			return err
		}
		if rest = rest[len(piece):]; len(rest) == 0 {
			return nil
		}
		if !s.library.wait(r.Context(), Now()+int64(route.reply.Every)) {
			return errUnanswered
		}
	}
}
