package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/pki"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func written(t *testing.T) layout.Layout {
	t.Helper()
	l := layout.New(t.TempDir())
	must.Succeed(t, writeSecrets(l, now))
	return l
}

func TestSecretsAreReadableByRootOnly(t *testing.T) {
	l := written(t)
	count := 0
	err := filepath.WalkDir(l.State, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == l.State {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, which lets others in", path, info.Mode())
		}
		count++
		return err
	})
	if err != nil || count == 0 {
		t.Fatalf("%d files, %v", count, err)
	}
}

// Every file that a command line or configuration names must be written, or be
// the data of the process itself.
func TestEveryFileThatIsNamedIsWritten(t *testing.T) {
	l := written(t)
	named := regexp.MustCompile(regexp.QuoteMeta(l.State) + `/(pki|kubeconfig)/[^\s"]+`)
	var text strings.Builder
	for _, args := range arguments(l) {
		text.WriteString(strings.Join(args, "\n") + "\n")
	}
	contents, err := files(l, "")
	must.Succeed(t, err)
	for _, content := range contents {
		text.Write(content)
	}
	paths := named.FindAllString(text.String(), -1)
	if len(paths) < 20 {
		t.Errorf("only %d files are named: %q", len(paths), paths)
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a process reads what is not there: %v", err)
		}
	}
}

func TestNodesHaveWhatTheyRead(t *testing.T) {
	l := written(t)
	for n := 1; n <= layout.Nodes; n++ {
		name := layout.NodeName(n)
		pair, err := tls.LoadX509KeyPair(l.Secret(name+".crt"), l.Secret(name+".key"))
		must.Succeed(t, err)
		certificate, err := x509.ParseCertificate(pair.Certificate[0])
		must.Succeed(t, err)
		must.Report(t, fmt.Sprintf("the API server would not trust %s's kubelet", name), certificate.VerifyHostname(layout.NodeAddress(n)))
		content := must.ReadFile(t, l.Kubeconfig(name))
		configuration, err := pki.ClientConfig(content)
		must.Succeed(t, err)
		client, err := x509.ParseCertificate(configuration.Certificates[0].Certificate[0])
		must.Succeed(t, err)
		// The node authorizer goes by these two.
		if got, want := client.Subject.CommonName, "system:node:"+name; got != want {
			t.Errorf("the kubelet's user is %q, want %q", got, want)
		}
		if got := client.Subject.Organization; len(got) != 1 || got[0] != "system:nodes" {
			t.Errorf("the kubelet's groups are %q, want system:nodes", got)
		}
	}
}

func TestAPIServerIsTrustedUnderAllItsNames(t *testing.T) {
	l := written(t)
	content := must.ReadFile(t, l.Secret("apiserver.crt"))
	block, _ := pem.Decode(content)
	certificate, err := x509.ParseCertificate(block.Bytes)
	must.Succeed(t, err)
	for _, host := range []string{
		layout.ControlAddress, layout.APIService, "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "127.0.0.1",
	} {
		must.Report(t, "VerifyHostname", certificate.VerifyHostname(host))
	}
}
