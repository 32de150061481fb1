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

	"github.com/loadtest-dev/loadtest-operator/test/must"
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
	must.Succeed(t, err)
	t.Cleanup(client.Close)
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, client.ProduceSync(t.Context(), kgo.StringRecord("before")).FirstErr())

	broker.Crash(t)
	if conn, err := net.Dial("tcp", broker.Addr()); err == nil {
		conn.Close()
		t.Errorf("a crashed broker still listens on %s", broker.Addr())
	}
	broker.Start(t)
	broker.Start(t) // is running, so that this does nothing

	must.Succeed(t, client.ProduceSync(t.Context(), kgo.StringRecord("after")).FirstErr())
	var got []string
	for len(got) < 2 {
		fetches := client.PollFetches(t.Context())
		must.Succeed(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { got = append(got, string(r.Value)) })
	}
	same.As(t, "records", []string{"before", "after"}, got)
}

func TestInstalled(t *testing.T) {
	java, err := exec.LookPath("java")
	must.Succeed(t, err)
	home := t.TempDir()
	must.Succeed(t, os.MkdirAll(filepath.Join(home, "libs"), 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(home, "libs", "kafka_2.13-4.0.0.jar"), nil, 0o600))
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
