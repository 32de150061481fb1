package groundtruth

import "net/http"

// stream writes a response whose steps count from an instant.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, a *arrival, from int64) (whole bool, err error) {
	a.route.streams.begun.Add(1)
	if err := s.steps(w, r, a, from); err != nil {
		a.route.streams.unfinished.Add(1)
		return false, err
	}
	s.ended(a)
	switch a.route.reply.Stream.Break {
	case Abort:
		abort(r)
	case Close:
		_ = linkOf(r.Context()).Close()
	}
	return a.route.reply.Stream.Break == Keep, nil
}

// steps writes the head and the steps of a stream.
func (s *Server) steps(w http.ResponseWriter, r *http.Request, a *arrival, from int64) error {
	stream, control := a.route.reply.Stream, http.NewResponseController(w)
	stream.header(w.Header())
	w.WriteHeader(http.StatusOK)
	if err := control.Flush(); err != nil {
		return err
	}
	for play := stream.play(s.seed, a.number); ; {
		next := play.next()
		if !s.library.wait(r.Context(), from+int64(next.at)) {
			return errUnanswered
		}
		if len(next.bytes) > 0 {
			if _, err := w.Write(next.bytes); err != nil {
				return err
			}
			// The record says when the last byte had left, and not when the library was given it.
			if err := control.Flush(); err != nil {
				return err
			}
		}
		s.wrote(a, next)
		if next.end {
			return nil
		}
	}
}

// header is the head of a response by net/http, and its trailer.
func (s *Stream) header(header http.Header) {
	header.Set("Content-Type", s.contentType())
	header.Set("Cache-Control", "no-cache")
	header["Date"] = nil
	if s.Gzip {
		header.Set("Content-Encoding", "gzip")
	}
	if s.Format == Messages && !s.Unended {
		header.Set(http.TrailerPrefix+"Grpc-Status", "0")
	}
}
