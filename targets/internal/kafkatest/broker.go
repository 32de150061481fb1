package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/daemon"
)

const (
	// formatTimeout is many times what formatting takes on an idle machine.
	formatTimeout = 3 * time.Minute
	// clusterID is any UUID in Kafka's form, 22 characters of base64.
	clusterID = "a2Fma2F0ZXN0a2Fma2F0ZQ"
)

// Broker is one Kafka, running or not, and its data.
type Broker struct {
	java, home, dir    string
	broker, controller string          // where it listens, host:port
	process            *daemon.Process // nil while it does not run
}

// newBroker formats the storage of a broker in dir; it is not started yet.
func newBroker(dir string) (*Broker, error) {
	java, home, err := installed(os.Getenv)
	if err != nil {
		return nil, err
	}
	b := &Broker{java: java, home: home, dir: dir, broker: daemon.Address(), controller: daemon.Address()}
	if err := os.WriteFile(b.config(), []byte(b.properties()), 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration of Kafka: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), formatTimeout)
	defer cancel()
	format := exec.CommandContext(ctx, java, b.args("kafka.tools.StorageTool", "format",
		"--standalone", "-t", clusterID, "-c", b.config())...)
	if out, err := format.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("format the storage of Kafka: %w\n%s", err, out)
	}
	return b, nil
}

// installed returns the paths of java and of the folder with Kafka's jars.
func installed(getenv func(string) string) (java, home string, err error) {
	const hint = "run: export KAFKA_HOME=$(go -C hack/images run . kafka)"
	home = getenv("KAFKA_HOME")
	if home == "" {
		return "", "", errors.New("this test needs KAFKA_HOME, a folder with Kafka's jars in libs: " + hint)
	}
	jars, err := filepath.Glob(filepath.Join(home, "libs", "kafka_*.jar"))
	if err != nil || len(jars) == 0 {
		return "", "", fmt.Errorf("KAFKA_HOME is %s, which has no libs/kafka_*.jar: %s", home, hint)
	}
	java, err = exec.LookPath("java")
	if err != nil {
		return "", "", fmt.Errorf("this test needs java in PATH (Debian package openjdk-17-jre-headless): %w", err)
	}
	return java, home, nil
}

func (b *Broker) config() string { return filepath.Join(b.dir, "server.properties") }

// args are those of a small, quickly started JVM that runs class.
func (b *Broker) args(class string, args ...string) []string {
	return append([]string{
		"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", filepath.Join(b.home, "libs", "*"), class,
	}, args...)
}

// Addr is the host:port for clients; it stays the same over crashes.
func (b *Broker) Addr() string { return b.broker }

// Crash kills the broker with SIGKILL, as a lost node would be. Acknowledged
// records are kept. The broker is restarted by the end of the test.
func (b *Broker) Crash(t testing.TB) {
	t.Helper()
	if b.process == nil {
		t.Fatal("crash Kafka: it is not running")
	}
	t.Cleanup(func() { b.Start(t) })
	b.stop()
}

// Start starts a crashed broker with its data, and returns when it serves. It
// does nothing if the broker is running.
func (b *Broker) Start(t testing.TB) {
	t.Helper()
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
}

func (b *Broker) start() error {
	if b.process != nil {
		return nil
	}
	process, err := daemon.Start(daemon.Program{
		Path: b.java, Args: b.args("kafka.Kafka", b.config()), Ready: "Kafka Server started",
	})
	if err != nil {
		return fmt.Errorf("broker on %s: %w", b.broker, err)
	}
	b.process = process
	return nil
}

func (b *Broker) stop() {
	if b.process != nil {
		b.process.End(syscall.SIGKILL)
		b.process = nil
	}
}

// properties are those of a single node that spends as little as it can.
func (b *Broker) properties() string {
	return strings.Join([]string{
		"process.roles=broker,controller",
		"node.id=1",
		"listeners=CLIENTS://" + b.broker + ",CONTROLLER://" + b.controller,
		"advertised.listeners=CLIENTS://" + b.broker,
		"inter.broker.listener.name=CLIENTS",
		"controller.listener.names=CONTROLLER",
		"listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"controller.quorum.bootstrap.servers=" + b.controller,
		"log.dirs=" + filepath.Join(b.dir, "data"),
		// Topics are created explicitly, not by a typing error.
		"auto.create.topics.enable=false",
		"offsets.topic.replication.factor=1",
		"offsets.topic.num.partitions=1",
		"transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1",
		"transaction.state.log.num.partitions=1",
		// A group rebalances without a delay for more members, and may remove a
		// dead one after a second.
		"group.initial.rebalance.delay.ms=0",
		"group.min.session.timeout.ms=1000",
		// A restarted broker waits until its crashed predecessor is given up.
		"broker.session.timeout.ms=3000",
		"broker.heartbeat.interval.ms=500",
		"num.network.threads=1",
		"num.io.threads=2",
		"background.threads=2",
		"log.cleaner.dedupe.buffer.size=4194304",
		"",
	}, "\n")
}
