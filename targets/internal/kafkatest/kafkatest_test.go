package kafkatest

import (
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// A broker that crashes is gone at once; when it comes back it has what it
// acknowledged, under the same address.
func TestCrash(t *testing.T) {
	broker := Shared(t)
	topic := "crash-" + rand.Text() // not that of the run before, under -count
	// Without a linger, whose timer races with a lost connection in this client. A
	// topic that was just made may be unknown for as long as the broker is busy.
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(0), kgo.UnknownTopicRetries(-1),
		kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), kgo.StringRecord("before")).FirstErr(); err != nil {
		t.Fatal(err)
	}

	broker.Crash(t)
	if conn, err := net.Dial("tcp", broker.Addr()); err == nil {
		conn.Close()
		t.Errorf("a crashed broker still listens on %s", broker.Addr())
	}
	broker.Start(t)
	broker.Start(t) // is running, so that this does nothing

	if err := client.ProduceSync(t.Context(), kgo.StringRecord("after")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) < 2 {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { got = append(got, string(r.Value)) })
	}
	same.As(t, "records", []string{"before", "after"}, got)
}

func TestInstalled(t *testing.T) {
	java, err := exec.LookPath("java")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "libs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "libs", "kafka_2.13-4.0.0.jar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		home, path string
		want       string
	}{
		"complete":           {home: home, path: filepath.Dir(java)},
		"no KAFKA_HOME":      {path: filepath.Dir(java), want: "this test needs KAFKA_HOME"},
		"an empty folder":    {home: t.TempDir(), path: filepath.Dir(java), want: "which has no libs/kafka_*.jar: run: export KAFKA_HOME="},
		"no java":            {home: home, path: t.TempDir(), want: "this test needs java in PATH"},
		"a folder not there": {home: "/nowhere", path: filepath.Dir(java), want: "KAFKA_HOME is /nowhere"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			_, _, err := installed(func(string) string { return tt.home })
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one that says %q", err, tt.want)
			}
		})
	}
}
