package controller

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

func TestReconcileIsRepeatedAfterAnErrorAndAfterAChange(t *testing.T) {
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	namespaces := factory.Core().V1().Namespaces()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var logged []string
	calls := 0
	c := Controller{
		Factory: factory,
		Logf:    func(_ string, args ...any) { logged = append(logged, args[0].(error).Error()) },
		Reconcile: func(ctx context.Context) error {
			switch calls++; calls {
			case 1:
				return errors.New("not now")
			case 2:
				namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}}
				_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
				return err
			}
			if _, err := namespaces.Lister().Get("new"); err != nil {
				return err
			}
			stop()
			return nil
		},
	}
	if err := c.Run(ctx, namespaces.Informer()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"not now"}, logged); diff != "" || calls != 3 {
		t.Errorf("%d calls, want 3; logged (-want +got):\n%s", calls, diff)
	}
}

func TestClientTrustsTheServerOfItsKubeconfigOnly(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"major":"1"}`))
	}))
	defer server.Close()
	config := api.NewConfig()
	config.Clusters["c"] = &api.Cluster{Server: server.URL}
	config.Contexts["c"] = &api.Context{Cluster: "c"}
	config.CurrentContext = "c"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	client, err := newClient(path)
	if err != nil {
		t.Fatal(err)
	}
	if version, err := client.Discovery().ServerVersion(); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("the server answers %v, %v, want that its certificate is refused", version, err)
	}
	if _, err := newClient(path + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want that the kubeconfig does not exist", err)
	}
}
