//go:build e2e

package judgement

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// journeySpec has each user log in with the key of its own row, and buy at the position
// that it was told: the store refuses a purchase at any other. Three users, of a worker each,
// carry out 34 journeys each.
const journeySpec = `
target: {service: {name: eventstore}}
parallelism: 3
data: [{name: accounts, from: {configMap: {name: accounts, key: accounts.csv}}, format: CSV}]
requests:
  - {name: login, http: {path: /tenants, headers: [{name: X-API-Key, value: "${key}"}]}}
  - {name: position, http: {path: /position, headers: [{name: X-API-Key, value: "${key}"}]}}
  - name: buy
    http:
      method: POST
      path: /events
      headers: [{name: X-API-Key, value: "${key}"}, {name: Expected-Position, value: "${position}"}]
      body: '{"type": "bought", "data": {"by": "${tenant}", "account": "${account}"}}'
    expect: {json: [{path: .type, equals: bought}]}
journeys:
  - name: buy
    user: {data: accounts}
    timeLimit: 30s
    steps:
      - {request: login, capture: {tenant: ".tenants[0]"}}
      - {think: {min: 400ms, max: 800ms}}
      - {request: position, capture: {position: .position}}
      - {request: buy}
steps: [{name: shopping, users: 3, requestsPerUser: 102}]
`

// checkJourney compares what became of the journeys with what each tenant of the event
// store has: 34 purchases, by the tenant whose key it was.
func checkJourney(t *testing.T) judgement {
	tenants := []string{"ann", "bob", "eve"}
	ns := cluster.EventStore(t, "eventstore.tenants={"+strings.Join(tenants, ",")+"}")
	keys := tenantKeys(t, ns, tenants)
	rows := "account,key\n"
	for _, tenant := range tenants {
		rows += tenant + "," + keys[tenant] + "\n"
	}
	accounts := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "accounts"}, Data: map[string]string{"accounts.csv": rows}}
	must.Succeed(t, cluster.API.Create(t.Context(), accounts))
	lt := cluster.Create(t, ns, "shopping", journeySpec)
	cluster.Finish(t, lt)
	result := lt.Status.Steps[0].Result
	if result == nil || len(result.Journeys) != 1 {
		t.Fatalf("there is no result of the journey: %+v", result)
	}
	var bought []string
	for _, tenant := range tenants {
		bought = append(bought, fmt.Sprintf("%d by %s", purchases(t, ns, tenant, keys[tenant]), tenant))
	}
	checkKeysAreNotShown(t, lt, keys)
	j := result.Journeys[0]
	return agree("Passed, 102 of 102 journeys, 306 requests, 34 by ann, 34 by bob, 34 by eve",
		fmt.Sprintf("%s, %d of %d journeys, %d requests, %s", lt.Status.Verdict, j.Completed, j.Started, result.Expected, strings.Join(bought, ", ")), lt)
}

// tenantKeys are the keys that the chart has made.
func tenantKeys(t *testing.T, ns string, tenants []string) map[string]string {
	t.Helper()
	var secret corev1.Secret
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "loadtest-eventstore"}, &secret))
	keys := map[string]string{}
	for _, tenant := range tenants {
		keys[tenant] = string(secret.Data["api-key-"+tenant])
	}
	return keys
}

// purchases are the events of a tenant, each of which must be its own.
func purchases(t *testing.T, ns, tenant, key string) int {
	t.Helper()
	raw, err := cluster.Clientset.CoreV1().RESTClient().Get().Namespace(ns).Resource("pods").Name("eventstore-app-0:8080").SubResource("proxy").
		Suffix("events").Param("from", "1").SetHeader("X-API-Key", key).DoRaw(t.Context())
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	var events []struct {
		Data struct{ By, Account string }
	}
	if err := json.Unmarshal(raw, &events); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, e := range events {
		if e.Data.By != tenant || e.Data.Account != tenant {
			t.Errorf("%s has a purchase of %+v", tenant, e.Data)
		}
	}
	return len(events)
}

// checkKeysAreNotShown: what users have of their own is in no status.
func checkKeysAreNotShown(t *testing.T, lt *v1beta1.LoadTest, keys map[string]string) {
	t.Helper()
	raw, err := json.Marshal(lt.Status)
	must.Succeed(t, err)
	for tenant, key := range keys {
		if key == "" || strings.Contains(string(raw), key) {
			t.Errorf("the status shows the key of %s, or there is none", tenant)
		}
	}
}
