package http

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// worthGzip is the size from which a reply is compressed: below it, the saving
// is less than a packet.
const worthGzip = 1400

// compressors are reused: each holds about 800 KB.
var compressors = sync.Pool{New: func() any {
	// Fast, since the network in a cluster is, too; the level is one that
	// exists.
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

// compressed compresses larger replies for clients that accept it.
func (h *Handler) compressed(next http.Handler) http.Handler {
	if !h.Gzip {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept-Encoding")
		if r.Method == http.MethodHead || !acceptsGzip(r.Header) {
			next.ServeHTTP(w, r)
			return
		}
		c := &compressor{ResponseWriter: w}
		next.ServeHTTP(c, r)
		// Not deferred: a reply that is cut off must not be given an end.
		c.finish()
	})
}

// acceptsGzip reports whether gzip, or anything where it is not named, is accepted with a
// weight above 0.
func acceptsGzip(h http.Header) bool {
	anything := false
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip":
			return isAccepted(parameters)
		case "*":
			anything = isAccepted(parameters)
		}
	}
	return anything
}

// isAccepted reports whether the weight of a coding, which is 1 if it is not given, is
// above 0.
func isAccepted(parameters string) bool {
	weight, found := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
	if !found {
		return true
	}
	q, err := strconv.ParseFloat(weight, 64)
	return err == nil && q > 0
}

// compressor holds back the beginning of a reply until it is certain whether it is
// worth to be compressed.
type compressor struct {
	http.ResponseWriter
	status int
	held   []byte
	// zip is there once the reply is compressed.
	zip *gzip.Writer
}

func (c *compressor) WriteHeader(status int) { c.status = status }

func (c *compressor) Write(p []byte) (int, error) {
	if c.zip == nil {
		if len(c.held)+len(p) < worthGzip {
			c.held = append(c.held, p...)
			return len(p), nil
		}
		if err := c.compress(); err != nil {
			return 0, err
		}
	}
	return c.zip.Write(p)
}

// compress begins the reply.
func (c *compressor) compress() error {
	c.Header().Set("Content-Encoding", "gzip")
	c.Header().Del("Content-Length")
	c.writeStatus()
	c.zip = compressors.Get().(*gzip.Writer)
	c.zip.Reset(c.ResponseWriter)
	_, err := c.zip.Write(c.held)
	c.held = nil
	return err
}

func (c *compressor) writeStatus() {
	if c.status != 0 {
		c.ResponseWriter.WriteHeader(c.status)
	}
}

// FlushError sends the buffered bytes; more may follow.
func (c *compressor) FlushError() error {
	if c.zip == nil {
		if err := c.compress(); err != nil {
			return err
		}
	}
	if err := c.zip.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// finish ends the reply. The only error left is a client that disconnected.
func (c *compressor) finish() {
	if c.zip == nil {
		c.writeStatus()
		if len(c.held) > 0 {
			_, _ = c.ResponseWriter.Write(c.held)
		}
		return
	}
	_ = c.zip.Close()
	c.zip.Reset(nil)
	compressors.Put(c.zip)
}
