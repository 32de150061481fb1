package kafkatest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the broker of this binary.
var shared struct {
	once    sync.Once
	managed bool // Main will end it
	dir     string
	broker  *Broker
	err     error
}

// Tests are those of a binary: a *testing.M, or what runs one within something
// else that is shared.
type Tests interface {
	Run() (code int)
}

// Main runs the tests, then ends the broker that they shared, if any, and
// removes its data. It returns the exit code.
func Main(tests Tests) int {
	shared.managed = true
	defer func() {
		if shared.broker != nil {
			shared.broker.stop()
		}
		if shared.dir != "" {
			if err := os.RemoveAll(shared.dir); err != nil {
				fmt.Fprintf(os.Stderr, "remove the folder of Kafka: %v\n", err)
			}
		}
	}()
	return tests.Run()
}

// Shared returns the running broker of this binary, which the first call
// starts. Without FULL=1 it skips the test: the broker is a JVM of its own, of which a
// change of the operator breaks nothing.
func Shared(t testing.TB) *Broker {
	t.Helper()
	if os.Getenv("FULL") == "" {
		t.Skip("starts Kafka on a JVM; set FULL=1")
	}
	if !shared.managed {
		t.Fatal("Kafka would never end: call os.Exit(kafkatest.Main(m)) in TestMain")
	}
	shared.once.Do(func() { shared.broker, shared.err = startShared() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.broker
}

func startShared() (*Broker, error) {
	dir, err := os.MkdirTemp("", "kafka")
	if err != nil {
		return nil, fmt.Errorf("create a folder for Kafka: %w", err)
	}
	shared.dir = dir
	b, err := newBroker(dir)
	if err != nil {
		return nil, err
	}
	return b, b.start()
}
