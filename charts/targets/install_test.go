package targets

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Postgres keeps its first password, so that an upgrade must not make another; a
// new tenant still gets one.
func TestUpgradesKeepPasswords(t *testing.T) {
	namespace := restricted(t)
	args := []string{
		"tried", ".", "--namespace", namespace, "--kubeconfig", kubeconfig(t, apiserver.Config(t)), "--values", "values-seed-002-v03.yaml",
		"--set", "ratelimiter.enabled=true,eventstore.enabled=true", "--set",
	}
	run(t, append(append([]string{"install"}, args...), "eventstore.tenants={one}")...)
	first := secrets(t, namespace)
	run(t, append(append([]string{"upgrade"}, args...), "eventstore.tenants={one,two},shortener.replicas=3")...)
	second := secrets(t, namespace)

	added := second["loadtest-eventstore"]["api-key-two"]
	if len(added) != 32 || added == second["loadtest-eventstore"]["api-key-one"] {
		t.Errorf("the new tenant's key is %q", added)
	}
	want := "tenants:\n- apiKey: " + first["loadtest-eventstore"]["api-key-one"] + "\n  name: one\n- apiKey: " + added + "\n  name: two\n"
	same.As(t, "tenants.yaml", want, second["loadtest-eventstore"]["tenants.yaml"])
	for _, name := range []string{"api-key-two", "tenants.yaml"} {
		delete(second["loadtest-eventstore"], name)
	}
	delete(first["loadtest-eventstore"], "tenants.yaml")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("Secrets after the upgrade (-before +after):\n%s", diff)
	}
	for name, password := range map[string]string{
		"ratelimiter": first["ratelimiter"]["redis-password"], "shortener": first["shortener"]["redis-password"],
	} {
		if diff := cmp.Diff("requirepass "+password+"\n", first[name]["redis.conf"]); diff != "" || password == "" {
			t.Errorf("redis.conf of %s (-want +got):\n%s", name, diff)
		}
	}
	if want, got := `"shortener" "`+first["shortener"]["postgres-password"]+"\"\n", first["shortener"]["userlist.txt"]; got != want {
		t.Errorf("userlist.txt = %q, want %q", got, want)
	}
}

// A tool that renders without looking up what it has installed makes other passwords,
// which is not that of the stores. The API server keeps the first.
func TestOtherPasswordsAreRefused(t *testing.T) {
	namespace := restricted(t)
	c := apiserver.Client(t)
	for _, key := range []string{"Secret/ratelimiter", "Secret/shortener"} {
		var kept string
		for i := range 2 {
			secret := as[corev1.Secret](t, render(t, "--values", "values-seed-002-v03.yaml", "--set", "ratelimiter.enabled=true"), key)
			secret.Namespace = namespace
			object := secret.DeepCopy()
			object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
			err := c.Patch(t.Context(), object, client.Apply, client.FieldOwner("renderer"), client.ForceOwnership) //nolint:staticcheck // of an object without an apply configuration
			switch {
			case i == 0 && err != nil:
				t.Fatal(err)
			case i == 1 && (err == nil || !strings.Contains(err.Error(), "field is immutable when `immutable` is set")):
				t.Errorf("%s: other passwords are not refused: %v", key, err)
			}
			must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
			if now := string(object.Data["redis-password"]); i == 1 && now != kept {
				t.Errorf("%s: the password is another", key)
			} else {
				kept = now
			}
		}
	}
}

// secrets are the chart's own in a namespace, by name.
func secrets(t *testing.T, namespace string) map[string]map[string]string {
	t.Helper()
	var list corev1.SecretList
	must.Succeed(t, apiserver.Client(t).List(t.Context(), &list, client.InNamespace(namespace)))
	found := map[string]map[string]string{}
	for _, s := range list.Items {
		if s.Type != corev1.SecretTypeOpaque {
			continue // Helm's record of the release
		}
		found[s.Name] = map[string]string{}
		for key, value := range s.Data {
			found[s.Name][key] = string(value)
		}
	}
	if len(found) != 3 {
		t.Fatalf("there are %d Secrets, want 3", len(found))
	}
	return found
}

// The chart creates no Secret where one is given.
func TestNoSecretIsMadeWhereOneIsGiven(t *testing.T) {
	r := render(t, "--set", "shortener.enabled=true,shortener.cache.enabled=true,shortener.connections=pgbouncer,eventstore.enabled=true"+
		",ratelimiter.existingSecret=a,shortener.existingSecret=b,eventstore.existingSecret=c")
	for key := range r {
		if strings.HasPrefix(key, "Secret/") {
			t.Errorf("there is %s", key)
		}
	}
	for key, want := range map[string]string{
		"Deployment/ratelimiter-app": "a", "Deployment/ratelimiter-redis": "a",
		"Deployment/shortener-app": "b", "Deployment/shortener-redis": "b", "StatefulSet/shortener-postgres": "b", "Deployment/shortener-pgbouncer-0": "b",
		"StatefulSet/eventstore-app": "c", "Pod/eventstore-test": "c",
	} {
		pod, used := r.pods(t)[key], map[string]bool{}
		for _, v := range pod.Spec.Volumes {
			if v.Secret != nil {
				used[v.Secret.SecretName] = true
			}
		}
		for _, e := range pod.Spec.Containers[0].Env {
			if e.ValueFrom != nil {
				used[e.ValueFrom.SecretKeyRef.Name] = true
			}
		}
		same.As(t, key+": Secrets", map[string]bool{want: true}, used)
	}
}

func TestNotesNameEveryAddress(t *testing.T) {
	const address = "http://shortener.demo:8080"
	config := kubeconfig(t, apiserver.Config(t))
	notes := func(set string) string {
		out, err := helm(t, "install", "tried", ".", "--namespace", "demo", "--kubeconfig", config, "--dry-run=client",
			"--set-json", "ratelimiter.capacity=1000000", "--set-json", "ratelimiter.refillPerSecond=2000000", "--set", set).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, notes, _ := strings.Cut(string(out), "\nNOTES:\n")
		return notes
	}
	all := notes("shortener.enabled=true,shortener.service.port=8080,eventstore.enabled=true,eventstore.auth.enabled=true")
	for _, want := range []string{
		"http://ratelimiter.demo/api", `rateLimit: {capacity: 1000000, refillPerSecond: "2000000", clientHeader: X-Forwarded-For}`, address + "/urls", "http://eventstore.demo/events", "one store and 1Gi of memory",
		`get secret loadtest-eventstore -o go-template='{{index .data "api-key" | base64decode}}'`, "helm test tried --namespace demo --logs",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the notes have no %q:\n%s", want, all)
		}
	}
	if got := notes("ratelimiter.enabled=false"); !strings.HasPrefix(got, "No target is enabled: set ratelimiter.enabled, ") {
		t.Errorf("without a target the notes are\n%s", got)
	}
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := helm(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("helm %s: %v\n%s", args[0], err, out)
	}
}

// kubeconfig writes how to reach the test's API server for helm.
func kubeconfig(t *testing.T, c *rest.Config) string {
	t.Helper()
	conf := clientcmdapi.NewConfig()
	conf.Clusters["tested"] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData}
	conf.AuthInfos["tested"] = &clientcmdapi.AuthInfo{ClientCertificateData: c.CertData, ClientKeyData: c.KeyData}
	conf.Contexts["tested"] = &clientcmdapi.Context{Cluster: "tested", AuthInfo: "tested"}
	conf.CurrentContext = "tested"
	if !strings.Contains(c.Host, "://") {
		conf.Clusters["tested"].Server = "https://" + c.Host
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must.Succeed(t, clientcmd.WriteToFile(*conf, path))
	return path
}
