package recipe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

const (
	java   = "java -XX:-UsePerfData -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp /opt/kafka/libs/* "
	format = java + "kafka.tools.StorageTool format --ignore-formatted "
)

func TestKafkaIsFormattedOnceAndStarted(t *testing.T) {
	tests := map[string]struct {
		properties string
		env        []string
		want       string
	}{
		"a quorum that begins with this broker": {
			properties: "node.id=1\ncontroller.quorum.bootstrap.servers=localhost:9093\n",
			want: format + "--standalone --cluster-id 5L6g3nShT-eMCtK--X86sw --config FILE\n" +
				java + "-Xmx512m -Xms256m kafka.Kafka FILE\n",
		},
		"a quorum of fixed voters": {
			properties: "controller.quorum.voters=1@localhost:9093\n",
			want: format + "--cluster-id 5L6g3nShT-eMCtK--X86sw --config FILE\n" +
				java + "-Xmx512m -Xms256m kafka.Kafka FILE\n",
		},
		"settings from the environment": {
			env: []string{"KAFKA_HEAP_OPTS=-Xmx1g", "KAFKA_OPTS=-Da=b -Dc=d", "CLUSTER_ID=0123456789012345678901"},
			want: format + "--standalone --cluster-id 0123456789012345678901 --config FILE\n" +
				java + "-Xmx1g -Da=b -Dc=d kafka.Kafka FILE\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := write(t, "server.properties", tt.properties)
			got, err := runKafka(t, `echo java "$@"`, tt.env, file)
			if err != nil {
				t.Fatalf("%v\n%s", err, got)
			}
			same.As(t, "calls of java", tt.want, strings.ReplaceAll(got, file, "FILE"))
		})
	}
}

func TestKafkaScriptStopsAtAFailure(t *testing.T) {
	file := write(t, "server.properties", "")
	if got, err := runKafka(t, `echo java; exit 1`, nil, file); err == nil || got != "java\n" {
		t.Errorf("after a failed format: %v, printed %q, want an error and no broker", err, got)
	}
	if got, err := runKafka(t, `echo java`, nil, file+".missing"); err == nil || strings.Contains(got, "java\n") {
		t.Errorf("without properties: %v, printed %q, want an error and no call", err, got)
	}
}

// runKafka runs the script with a shell script for java.
func runKafka(t *testing.T, java string, env []string, args ...string) (string, error) {
	t.Helper()
	program := write(t, "java", "#!/bin/sh\n"+java+"\n")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{write(t, "kafka", kafkaScript)}, args...)...)
	cmd.Env = append(env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil { // a program is to be run
		t.Fatal(err)
	}
	return path
}
