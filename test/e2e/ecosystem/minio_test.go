//go:build e2e

package ecosystem

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// checkMinIO has the results of a LoadTest outlive it in a real object store: it waits for
// the store, though its time to live is nothing, and a replica that takes over keeps them.
func checkMinIO(t *testing.T, e *ecosystem) {
	m := installMinIO(t)
	c := component{e, "MinIO 2026-02-12"} // as in hack/components/minio
	lt := cluster.Create(t, m.namespace, "checkout", `
target: {service: {name: counter}}
requests: [{name: checkout, http: {path: /checkout}}]
steps: [{name: steady, rate: 50, duration: 3s}]
thresholds: [{metric: failureRate, max: 1%}]
ttlSecondsAfterFinished: 0
`)
	c.check(t, "a LoadTest with no time to live waits while the store refuses the key", func(t *testing.T) string {
		cluster.Until(t, lt, "refused by the store", func(lt *v1beta1.LoadTest) bool {
			return cluster.Condition(lt, v1beta1.ConditionArchived).Status == metav1.ConditionFalse
		})
		message := cluster.Condition(lt, v1beta1.ConditionArchived).Message
		if message != "The results could not be archived: the server answered 403 SignatureDoesNotMatch." {
			t.Errorf("the condition says %q", message)
		}
		return message
	})
	c.check(t, "with the right key, a replica that takes over keeps the results, and the LoadTest goes", func(t *testing.T) string {
		m.giveKey(t, minioSecret)
		cluster.MustCommand(t, "kubectl", "-n", cluster.OperatorNamespace, "rollout", "restart", "deploy/loadtest-operator")
		begun := time.Now()
		cluster.Soon(t, func(ctx context.Context) error {
			err := cluster.API.Get(ctx, client.ObjectKeyFromObject(lt), &v1beta1.LoadTest{})
			if err == nil {
				return errors.New("it is still there")
			}
			return client.IgnoreNotFound(err)
		})
		return fmt.Sprintf("%s after the rollout began", time.Since(begun).Round(time.Second))
	})
	c.check(t, "a report is made of the object alone, and is that of the LoadTest", func(t *testing.T) string { return m.report(t, lt) })
	c.check(t, "the webhook has the verdict", func(t *testing.T) string {
		counts, err := m.webhook.Read(t.Context())
		if err != nil || counts["verdicts"].Received == 0 {
			t.Errorf("%+v, %v", counts, err)
		}
		return fmt.Sprintf("%d messages", counts["verdicts"].Received)
	})
}

const minioSecret = "loadtest-secret"

// minio is an object store with a bucket, and the target and the webhook beside it.
type minio struct {
	namespace string
	webhook   cluster.Counter
	// address is one of this machine.
	address string
}

// installMinIO has the operator keep results in it, with a wrong key.
func installMinIO(t *testing.T) *minio {
	t.Helper()
	m := &minio{namespace: cluster.Namespace(t)}
	manifest, err := os.ReadFile("minio.yaml")
	must.Succeed(t, err)
	manifest = bytes.ReplaceAll(manifest, []byte("IMAGE"), []byte(cluster.Image("minio")+":"+cluster.ImageTag()))
	must.Succeed(t, pipe(t.Context(), manifest, "apply", "--server-side", "-n", m.namespace, "-f", "-"))
	m.webhook, err = cluster.StartCounter(t.Context(), m.namespace, "")
	must.Succeed(t, err)
	cluster.MustCommand(t, "kubectl", "-n", m.namespace, "wait", "--for=condition=Ready", "pod/minio", "--timeout="+cluster.Patience.String())
	m.address = cluster.ForwardIn(t, m.namespace, "pod/minio", "9000")
	m.ask(t, http.MethodPut, "load-tests")
	m.giveKey(t, "wrong-"+minioSecret)
	before := filepath.Join(t.TempDir(), "values.yaml")
	values := cluster.MustCommand(t, "helm", "get", "values", "loadtest-operator", "--namespace", cluster.OperatorNamespace, "--output", "yaml")
	must.Succeed(t, os.WriteFile(before, []byte(values), 0o600))
	upgrade := []string{"upgrade", "loadtest-operator", "../../../charts/loadtest-operator", "--namespace", cluster.OperatorNamespace, "--values", before, "--wait", "--timeout", cluster.Patience.String()}
	t.Cleanup(func() {
		_, err := cluster.Command(context.Background(), "helm", upgrade...)
		_, again := cluster.Command(context.Background(), "kubectl", "-n", cluster.OperatorNamespace, "delete", "secret", "loadtest-keys")
		if err != nil || again != nil {
			t.Error(err, again)
		}
	})
	cluster.MustCommand(t, "helm", append(upgrade, "--set", "results.keysSecret=loadtest-keys",
		"--set", fmt.Sprintf("config.results.objectStore.endpoint=http://minio.%s.svc:9000", m.namespace),
		"--set", "config.results.objectStore.bucket=load-tests,config.results.objectStore.prefix=e2e",
		"--set", fmt.Sprintf("config.results.webhook.url=http://counter.%s.svc/verdicts", m.namespace))...)
	return m
}

// giveKey writes the Secret of the operator.
func (m *minio) giveKey(t *testing.T, key string) {
	t.Helper()
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.OperatorNamespace, Name: "loadtest-keys"},
		StringData: map[string]string{"accessKeyID": "loadtest", "secretAccessKey": key, "webhookKey": "0123456789abcdef"},
	}
	manifest, err := json.Marshal(secret)
	must.Succeed(t, err)
	must.Succeed(t, pipe(t.Context(), manifest, "apply", "--server-side", "-f", "-"))
}

// ask sends a signed request without a body, and returns the answer's.
func (m *minio) ask(t *testing.T, method, path string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+m.address+"/"+path, nil)
	must.Succeed(t, err)
	sum := sha256.Sum256(nil)
	request.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	credentials := aws.Credentials{AccessKeyID: "loadtest", SecretAccessKey: minioSecret}
	must.Succeed(t, v4.NewSigner().SignHTTP(t.Context(), credentials, request, hex.EncodeToString(sum[:]), "s3", "us-east-1", time.Now()))
	answer, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s, %v\n%s", method, path, answer.Status, err, body)
	}
	return body
}

// report has the plugin read what was kept of a LoadTest from the store, as it was before it went.
func (m *minio) report(t *testing.T, lt *v1beta1.LoadTest) string {
	t.Helper()
	object := fmt.Sprintf("s3://load-tests/e2e/%s/%s/%s.json.gz", lt.Namespace, lt.Name, lt.UID)
	t.Setenv("AWS_ACCESS_KEY_ID", "loadtest")
	t.Setenv("AWS_SECRET_ACCESS_KEY", minioSecret)
	t.Setenv("AWS_ENDPOINT_URL", "http://"+m.address)
	read := func(args ...string) string {
		return cluster.MustCommand(t, "kubectl-loadtest", append(args, "--kubeconfig", os.DevNull)...)
	}
	kept := &v1beta1.LoadTest{}
	must.Succeed(t, json.Unmarshal([]byte(read("report", "--from", object, "-o", "json")), kept))
	got, want := &kept.Status, &lt.Status
	if got.Verdict == "" || got.Verdict != want.Verdict || got.Steps[0].Result.Sent != want.Steps[0].Result.Sent || kept.UID != lt.UID {
		t.Errorf("%s of %d requests was kept, and it was %s of %d", got.Verdict, got.Steps[0].Result.Sent, want.Verdict, want.Steps[0].Result.Sent)
	}
	byName := read("report", lt.Name, "-n", lt.Namespace, "--from", "s3://load-tests/e2e", "-o", "html")
	if !strings.Contains(byName, ">Over time</h2>") {
		t.Error("the page has no plots over time: the results of the step are missing")
	}
	if trend := read("trend", lt.Name, "-n", lt.Namespace, "--from", "s3://load-tests/e2e"); !strings.Contains(trend, string(want.Verdict)) {
		t.Errorf("the trend lacks the run:\n%s", trend)
	}
	return fmt.Sprintf("%s, sent %d", got.Verdict, got.Steps[0].Result.Sent)
}
