// The race detector looks at the tests of this file, too: results are kept beside the passes.

package loadtest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// keeper is a fixture that keeps results.
type keeper struct {
	*fixture
	ended chan struct{} // gets a value for each attempt
}

// keeps has results kept as a document says. The folders are empty.
func (r *fixture) keeps(document string) *keeper {
	r.t.Helper()
	k := &keeper{r, make(chan struct{}, 100)}
	p, err := policy.Load([]byte("results: " + document))
	must.Succeed(r.t, err)
	r.Policy = func() *policy.Policy { return p }
	r.Keeper = resultkeeper.New(r.t.Context(), resultkeeper.Config{
		Reader: r.Uncached, Clock: r.clock,
		Folders: resultkeeper.Folders{Keys: r.t.TempDir(), Results: r.t.TempDir()},
		Enqueue: func([]types.NamespacedName) { k.ended <- struct{}{} },
	})
	return k
}

// attempt passes, and waits for the attempt that the pass begins.
func (k *keeper) attempt(lt *v1beta1.LoadTest) {
	k.t.Helper()
	k.mustPass(lt)
	await.Receive(k.t, "an attempt ends", k.ended)
}

// file is what is kept of a run.
func (k *keeper) file(lt *v1beta1.LoadTest) (packed []byte) {
	k.t.Helper()
	packed, err := os.ReadFile(filepath.Join(k.Keeper.Folders.Results, lt.Namespace, lt.Name, string(lt.UID)+".json.gz"))
	if err != nil && !os.IsNotExist(err) {
		k.t.Fatal(err)
	}
	return packed
}

// wantKept says where what is kept is not the LoadTest with the results of its step.
func wantKept(t *testing.T, lt *v1beta1.LoadTest, packed []byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	must.Succeed(t, err)
	var list struct {
		Kind  string
		Items []json.RawMessage
	}
	if err := json.NewDecoder(z).Decode(&list); err != nil || list.Kind != "List" || len(list.Items) != 2 {
		t.Fatalf("%s of %d items, %v; want a List of 2", list.Kind, len(list.Items), err)
	}
	kept, results := &v1beta1.LoadTest{}, &corev1.ConfigMap{}
	must.Succeed(t, json.Unmarshal(list.Items[0], kept))
	must.Succeed(t, json.Unmarshal(list.Items[1], results))
	want := lt.DeepCopy()
	meta.RemoveStatusCondition(&want.Status.Conditions, v1beta1.ConditionArchived)
	if diff := cmp.Diff(want.Status, kept.Status); diff != "" || kept.Kind != "LoadTest" || kept.UID != lt.UID || len(kept.ManagedFields) > 0 || kept.ResourceVersion != "" {
		t.Errorf("%s %s, status (-want +got):\n%s", kept.Kind, kept.UID, diff)
	}
	if diff := cmp.Diff(stored(t, lt)[0].BinaryData, results.BinaryData); diff != "" || results.Name != lt.Status.ResultRefs[0].ConfigMap {
		t.Errorf("ConfigMap %s (-want +got):\n%s", results.Name, diff)
	}
}

// An operator that ends between the file and the status is followed by one that keeps the
// same bytes.
func TestResultsOfARunAreKept(t *testing.T) {
	t.Parallel()
	lt := hello(t)
	r := underWay(t, apiserver.Client(t), lt)
	r.mustPass(lt)
	if lt.Status.Verdict != v1beta1.VerdictPassed {
		t.Fatalf("verdict %q", lt.Status.Verdict)
	}
	first := r.keeps("{volume: {}}")
	first.attempt(lt)
	packed := first.file(lt)
	wantKept(t, lt, packed)

	next := newFixture(t, apiserver.Client(t)).keeps("{volume: {}}")
	next.attempt(lt)
	if !bytes.Equal(packed, next.file(lt)) {
		t.Error("another process keeps other bytes")
	}
	next.mustPass(lt)
	c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionArchived)
	if c == nil || c.Status != "True" || !strings.Contains(c.Message, string(lt.UID)+".json.gz, ") || !strings.Contains(c.Message, " bytes, SHA-256 "+archive.Sum(packed)) {
		t.Fatalf("condition %+v", c)
	}
	written := lt.ResourceVersion
	next.mustPass(lt)
	third := newFixture(t, apiserver.Client(t)).keeps("{volume: {}}")
	third.mustPass(lt)
	if len(next.ended) > 0 || third.file(lt) != nil || lt.ResourceVersion != written {
		t.Error("it was kept again")
	}
	wantKept(t, lt, packed)
}

// What an editor of the namespace made of the results of a step is not kept as if the
// operator had stored it.
func TestForgedResultsAreNotKept(t *testing.T) {
	t.Parallel()
	lt := hello(t)
	r := underWay(t, apiserver.Client(t), lt)
	r.mustPass(lt)
	forged := stored(t, lt)[0]
	must.Succeed(t, apiserver.Client(t).Delete(t.Context(), &forged))
	forged.ResourceVersion, forged.UID = "", ""
	forged.BinaryData = map[string][]byte{archive.Key: []byte("forged")}
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), &forged))
	k := r.keeps("{volume: {}}")
	k.attempt(lt)
	z, err := gzip.NewReader(bytes.NewReader(k.file(lt)))
	must.Succeed(t, err)
	if text, err := io.ReadAll(z); err != nil || strings.Contains(string(text), `"kind":"ConfigMap"`) || !strings.Contains(string(text), `"kind":"LoadTest"`) {
		t.Errorf("%v, kept:\n%s", err, text)
	}
}

// deletedAtOnce is a finished run with a time to live of nothing.
func deletedAtOnce(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	lt := withResult(t, true)
	must.Succeed(t, apiserver.Client(t).Patch(t.Context(), lt, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"ttlSecondsAfterFinished":0}}`))))
	return lt
}

func isGone(t *testing.T, lt *v1beta1.LoadTest) bool {
	t.Helper()
	err := apiserver.Client(t).Get(t.Context(), client.ObjectKeyFromObject(lt), &v1beta1.LoadTest{})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return apierrors.IsNotFound(err)
}

func TestLoadTestWaitsForItsResultsWithinABound(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"the volume comes": false, "the volume does not come": true} {
		t.Run(name, func(t *testing.T) {
			lt := deletedAtOnce(t)
			k := newFixture(t, apiserver.Client(t)).keeps("{volume: {}, wait: 10m}")
			k.clock.SetTime(lt.Status.CompletionTime.Time)
			registry := prometheus.NewRegistry()
			k.Metrics = loadtest.NewMetrics(registry)
			folder := k.Keeper.Folders.Results
			k.Keeper.Folders.Results = filepath.Join(folder, "nowhere")
			k.attempt(lt)
			if result := k.mustPass(lt); isGone(t, lt) || result.RequeueAfter != 5*time.Second {
				t.Fatalf("gone: %t, again after %v; want after 5s", isGone(t, lt), result.RequeueAfter)
			}
			if c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionArchived); c == nil || c.Reason != v1beta1.ReasonArchiveFailed || c.Message != "The results could not be archived: no such file or directory." {
				t.Errorf("condition %+v", c)
			}
			if event := <-k.recorder.Events; !strings.Contains(event, "Warning ArchiveFailed The results could not be archived: no such file or directory.") {
				t.Errorf("event %s", event)
			}
			if lost {
				k.after(10 * time.Minute)
			} else {
				k.Keeper.Folders.Results = folder
				k.after(5 * time.Second)
				k.attempt(lt)
				k.mustPass(lt) // which says that they are kept
			}
			k.mustPass(lt)
			if !isGone(t, lt) || (k.file(lt) == nil) != lost {
				t.Errorf("gone: %t, kept: %t", isGone(t, lt), k.file(lt) != nil)
			}
			want := map[bool]string{true: "loadtest_results_lost_total 1", false: "loadtest_results_lost_total 0"}[lost]
			if err := testutil.GatherAndCompare(registry, strings.NewReader("# HELP loadtest_results_lost_total LoadTests that were deleted after their time to live, and the wait after it, without archived results.\n# TYPE loadtest_results_lost_total counter\n"+want+"\n"), "loadtest_results_lost_total"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A LoadTest at the limit of its size may have no room for a condition: what is kept is
// kept all the same, and the LoadTest goes when its time is over.
func TestResultsAreKeptThoughTheStatusIsFull(t *testing.T) {
	t.Parallel()
	writes := 0
	c := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			writes++
			return apierrors.NewInvalid(v1beta1.GroupVersion.WithKind("LoadTest").GroupKind(), "hello", field.ErrorList{field.TooLong(field.NewPath("status"), "", 1)})
		},
	})
	lt := deletedAtOnce(t)
	k := newFixture(t, c).keeps("{volume: {}}")
	k.clock.SetTime(lt.Status.CompletionTime.Time)
	k.Keeper.Folders.Results = filepath.Join(k.Keeper.Folders.Results, "nowhere")
	if _, err := k.pass(lt); err == nil || !strings.Contains(err.Error(), "patch status") {
		t.Fatal(err)
	}
	k.attempt(lt)
	k.mustPass(lt)
	if isGone(t, lt) || writes != 1 {
		t.Fatalf("gone: %t, %d writes of the status; want one", isGone(t, lt), writes)
	}
	k.Keeper.Folders.Results = filepath.Dir(k.Keeper.Folders.Results)
	k.after(5 * time.Second)
	k.attempt(lt)
	k.mustPass(lt)
	if !isGone(t, lt) || k.file(lt) == nil || writes != 1 {
		t.Errorf("gone: %t, kept: %t, %d writes", isGone(t, lt), k.file(lt) != nil, writes)
	}
}

// A LoadTest that is deleted while its results are read is not waited for, nor kept as
// another one of its name.
func TestLoadTestThatGoesWhileItIsRead(t *testing.T) {
	t.Parallel()
	lt := withResult(t, true)
	read := lt.DeepCopy() // lt is read back while the attempt goes on
	k := newFixture(t, apiserver.Client(t)).keeps("{volume: {}}")
	k.Keeper.Reader = interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if err := client.IgnoreNotFound(c.Delete(ctx, read.DeepCopy())); err != nil {
				return err
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	k.clock.SetTime(lt.Status.CompletionTime.Time)
	k.attempt(lt)
	if result := k.mustPass(lt); result.RequeueAfter != 0 || k.file(lt) != nil {
		t.Errorf("again after %v, kept %q", result.RequeueAfter, k.file(lt))
	}
}

func TestVerdictIsAnnounced(t *testing.T) {
	t.Parallel()
	var got []string
	answer := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Header.Get("webhook-id")+" "+string(body))
		w.WriteHeader(answer)
	}))
	t.Cleanup(server.Close)
	lt := withResult(t, true)
	k := newFixture(t, apiserver.Client(t)).keeps("{volume: {prefix: a}, webhook: {url: '" + server.URL + "'}}")
	k.clock.SetTime(lt.Status.CompletionTime.Time)
	must.Succeed(t, os.WriteFile(filepath.Join(k.Keeper.Folders.Keys, "webhookKey"), []byte("0123456789abcdef"), 0o600))
	k.attempt(lt) // keeps the results
	k.attempt(lt)
	k.mustPass(lt)
	if c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionAnnounced); c == nil || c.Status != "False" || c.Message != "The webhook did not accept the verdict: the server answered 503." {
		t.Errorf("condition %+v", c)
	}
	// Results that are elsewhere than the configuration says by now have no place in it.
	before := k.Policy()
	moved, err := policy.Load([]byte("results: {volume: {prefix: b}, webhook: {url: '" + server.URL + "'}}"))
	must.Succeed(t, err)
	k.Policy = func() *policy.Policy { return moved }
	k.after(5 * time.Second)
	k.attempt(lt)
	k.mustPass(lt)
	k.Policy = func() *policy.Policy { return before }
	answer = http.StatusNoContent
	k.after(time.Minute)
	k.attempt(lt)
	k.mustPass(lt)
	k.mustPass(lt)
	if !meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionAnnounced) {
		t.Errorf("conditions %+v", lt.Status.Conditions)
	}
	uid, path := string(lt.UID), "volume:/a/"+lt.Namespace+"/hello/"+string(lt.UID)+".json.gz"
	want := uid + ` {"format":"loadtest.dev/verdict/v1","namespace":"` + lt.Namespace + `","name":"hello","uid":"` + uid +
		`","verdict":"Passed","reason":"","summary":"","time":"` + lt.Status.CompletionTime.UTC().Format(time.RFC3339) + `","results":"` + path + `"}`
	same.As(t, "announced", []string{want, strings.Replace(want, `,"results":"`+path+`"`, "", 1), want}, got)
}

// Once results are to be kept, those of runs that have finished are as well.
func TestFinishedRunsAreKeptFromNowOn(t *testing.T) {
	t.Parallel()
	lt := withResult(t, true)
	r := newFixture(t, apiserver.Client(t))
	r.mustPass(lt)
	k := r.keeps("{volume: {}}")
	k.attempt(lt)
	if k.file(lt) == nil {
		t.Error("nothing is kept")
	}
}
