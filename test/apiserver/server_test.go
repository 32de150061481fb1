package apiserver_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { apiserver.Start(m) }

func TestNamespaceIsForOneTest(t *testing.T) {
	first, second := apiserver.Namespace(t), apiserver.Namespace(t)
	if first == second {
		t.Fatalf("Namespace() gave %s twice", first)
	}
	c := apiserver.Client(t)
	test := &v1beta1.LoadTest{
		ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: first},
		Spec: v1beta1.LoadTestSpec{
			Target:   v1beta1.Target{URL: "http://shortener"},
			Requests: []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{}}},
			Steps:    []v1beta1.Step{{Name: "1 users x 1", Users: new(int32(1)), RequestsPerUser: new(int32(1))}},
		},
	}
	if err := c.Create(t.Context(), test); err != nil {
		t.Fatalf("create a LoadTest: %v", err)
	}
	for namespace, want := range map[string]int{first: 1, second: 0} {
		var list v1beta1.LoadTestList
		must.Succeed(t, c.List(t.Context(), &list, client.InNamespace(namespace)))
		if len(list.Items) != want {
			t.Errorf("%d LoadTests in %s, want %d", len(list.Items), namespace, want)
		}
	}
}

func TestKubectl(t *testing.T) {
	kubectl := apiserver.Kubectl(t)
	output, err := kubectl("", "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	if err != nil || output != "admin" {
		t.Errorf("kubectl auth whoami = %q, %v, want admin", output, err)
	}
	output, err = kubectl("", "get", "namespace", "nowhere")
	if err == nil || !strings.Contains(output, `"nowhere" not found`) {
		t.Errorf("kubectl get of what is not there = %q, %v, want an error that says so", output, err)
	}
}
