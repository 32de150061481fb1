package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// system makes the handler of a system.
type system func() (http.Handler, error)

// systems are those that can be started, by name.
var systems = map[string]system{
	"ratelimiter":      func() (http.Handler, error) { return rateLimiter(false) },
	"ratelimiter-racy": func() (http.Handler, error) { return rateLimiter(true) },
	"shortener":        shortURLs,
	"tokens":           languageModel,
}

// Names are the names of the systems.
func Names() []string { return slices.Sorted(maps.Keys(systems)) }

// Check refuses a name that no system has.
func Check(name string) error {
	if _, ok := systems[name]; !ok {
		return fmt.Errorf("--serve %s: must be one of %s", name, strings.Join(Names(), ", "))
	}
	return nil
}

// Service is the name that a system's Service has in a cluster. Variants share it.
func Service(name string) string {
	service, _, _ := strings.Cut(name, "-")
	return service
}

const (
	// readTimeout bounds the time in which a request must have come.
	readTimeout = 10 * time.Second
	// stopTimeout is how long requests in flight may take at the end.
	stopTimeout = time.Second
)

// Start serves the system of a name until stop is called.
func Start(ctx context.Context, name string) (address string, stop func() error, err error) {
	if err := Check(name); err != nil {
		return "", nil, err
	}
	handler, err := systems[name]()
	if err != nil {
		return "", nil, fmt.Errorf("start %s: %w", name, err)
	}
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("start %s: %w", name, err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(lis) }()
	return lis.Addr().String(), func() error { return shutDown(server, served) }, nil
}

func shutDown(server *http.Server, served <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close() // connections that are in use, of a run that was given up
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
