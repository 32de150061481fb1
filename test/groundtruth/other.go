//go:build !linux

package groundtruth

import "errors"

// kernelClock starts with the process: no other process can compare.
func kernelClock() int64 { return 0 }

// processorTime is not measured.
func processorTime() int64 { return 0 }

// run refuses: the event loop is Linux's.
func (s *Server) run(Config) error { return errors.New("HTTP/1.1 without TLS needs Linux") }

func (s *Server) wake() {}

// hold holds nothing.
func hold(address string) (release func(), at string, err error) { return func() {}, address, nil }
