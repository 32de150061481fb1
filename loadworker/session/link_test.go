package session

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestTokenIsReadAtEachConnection(t *testing.T) {
	c := startCoordinator(t)
	var file string
	w := startWorker(t, c, func(c *Config) { file = c.TokenFile })
	s := c.hello(t)
	c.mu.Lock()
	c.token = "rotated"
	c.mu.Unlock()
	if err := os.WriteFile(file, []byte("rotated"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.hangUp <- errors.New("again")
	c.hello(t).say(t, finish())
	w.ends(t, nil)
}

func TestGivesUp(t *testing.T) {
	c := startCoordinator(t)
	w := startWorker(t, c, func(c *Config) {
		c.Coordinator, c.GiveUp = "127.0.0.1:1", time.Nanosecond
	})
	select {
	case err := <-w.ended:
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1 was unreachable") {
			t.Errorf("ended with %v, want that the coordinator was unreachable", err)
		}
	case <-time.After(patience):
		t.Fatal("the worker did not give up")
	}
}

func TestRefusesAnUnknownCertificate(t *testing.T) {
	c, other := startCoordinator(t), startCoordinator(t)
	w := startWorker(t, c, func(c *Config) { c.CA, c.GiveUp = other.ca, time.Nanosecond })
	select {
	case err := <-w.ended:
		if err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("ended with %v, want that the certificate is refused", err)
		}
	case <-time.After(patience):
		t.Fatal("the worker did not end")
	}
}

func TestRunRefusesATextThatIsNoCertificate(t *testing.T) {
	err := Run(context.Background(), Config{Coordinator: "127.0.0.1:1", CA: []byte("no PEM")})
	if err == nil || !strings.Contains(err.Error(), "coordinator CA") {
		t.Errorf("Run = %v, want an error about the CA", err)
	}
}
