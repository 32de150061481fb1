package main

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// service answers calls, and counts them.
type service struct {
	healthpb.UnimplementedHealthServer
	hold time.Duration

	connections, requests, answered atomic.Int64
	inFlight, peakInFlight          atomic.Int64
	first, last                     atomic.Int64
}

var (
	errNoService = status.Error(codes.InvalidArgument, "service is empty")
	serving      = &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}
)

// Check replies that any service is serving.
func (s *service) Check(ctx context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	s.begin()
	defer s.inFlight.Add(-1)
	if r.GetService() == "" {
		return nil, errNoService
	}
	if s.hold > 0 {
		select {
		case <-time.After(s.hold):
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
	s.answered.Add(1)
	return serving, nil
}

// begin counts a call that came.
func (s *service) begin() {
	now := groundtruth.Now()
	s.first.CompareAndSwap(0, now)
	s.last.Store(now)
	s.requests.Add(1)
	n := s.inFlight.Add(1)
	for peak := s.peakInFlight.Load(); n > peak && !s.peakInFlight.CompareAndSwap(peak, n); {
		peak = s.peakInFlight.Load()
	}
}

func (s *service) counters() groundtruth.Counters {
	return groundtruth.Counters{
		Requests: s.requests.Load(), Answered: s.answered.Load(), Connections: s.connections.Load(),
		InFlight: s.inFlight.Load(), PeakInFlight: s.peakInFlight.Load(), First: s.first.Load(), Last: s.last.Load(),
	}
}

// counted counts the connections that a listener accepts.
type counted struct {
	net.Listener
	accepted *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.accepted.Add(1)
	}
	return conn, err
}
