package command_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The page has plots over time of the results that can be read, in the cluster and in a
// file, and says which cannot.
func TestPageDrawsTheResultsBeyondTheSummary(t *testing.T) {
	t.Parallel()
	const plots, notThere = ">Over time</h2>", "no plots over time of step 10 users: ConfigMap hello-0-a: "
	p := newTestUser(t)
	status := strings.Replace(finished("Passed"), "{phase:", "{resultRefs: [{step: 10 users, configMap: hello-0-a}], phase:", 1)
	status = strings.Replace(status, "state: Complete,", `state: Complete, startTime: "2026-11-22T10:00:00.000000Z",`, 1)
	lt := p.create(status)
	page := func(want bool, message string, args ...string) {
		t.Helper()
		got := p.run(args...)
		if got.code != 0 || strings.Contains(got.out, plots) != want || !strings.Contains(got.err, message) {
			t.Errorf("%v: exit code %d, plots: %v, %q; want plots: %v, %q", args, got.code, strings.Contains(got.out, plots), got.err, want, message)
		}
	}
	page(false, notThere+`configmaps "hello-0-a" not found`, "report", "hello", "-o", "html")

	step := archive.Step{
		Format: archive.Format, LoadTest: "hello", UID: string(lt.UID), Name: "10 users", WorkersReporting: 2, Due: 10, Sent: 10,
		Requests: []archive.Request{{Name: "home", Type: "Read"}},
		Series: &archive.Series{Seconds: 1, Workers: 2, Points: []archive.Point{
			{Due: 10, Sent: 10, Completed: 10, Expected: 10, Outcomes: map[string]int64{"success": 10}, P50: ptr.To[int64](1000)}}},
	}
	kept := results(t, p.namespace, step)
	must.Succeed(t, p.client.Create(t.Context(), kept))
	page(true, "", "report", "hello", "-o", "html")

	saved := p.run("report", "hello", "-o", "yaml").out
	page(false, "", "report", "-f", p.file(saved), "-o", "html")
	page(true, "", "report", "-f", p.file(saved+"---\n"+asYAML(t, kept)), "-o", "html")
	step.UID = "another"
	page(false, notThere+"it has the results of another step", "report", "-f", p.file(saved+"---\n"+asYAML(t, results(t, p.namespace, step))), "-o", "html")

	// One that was made anew is not believed, though it says that it is of this step.
	step.UID, step.Sent = string(lt.UID), 9
	signed := strings.Replace(saved, "- configMap: hello-0-a\n", "- configMap: hello-0-a\n    sha256: "+archive.Sum(kept.BinaryData[archive.Key])+"\n", 1)
	page(true, "", "report", "-f", p.file(signed+"---\n"+asYAML(t, kept)), "-o", "html")
	got := p.run("report", "-f", p.file(signed+"---\n"+asYAML(t, results(t, p.namespace, step))), "-o", "html")
	if want := "step 10 users is left out: ConfigMap hello-0-a: it was changed after the run"; got.code == 0 || !strings.Contains(got.err, want) || strings.Contains(got.out, plots) || !strings.Contains(got.out, "</html>") {
		t.Errorf("exit code %d, %q; want the page without plots, and %q", got.code, got.err, want)
	}
	kept.Name = "other"
	page(false, notThere+"it is not in the file", "report", "-f", p.file(saved+"---\n"+asYAML(t, kept)), "-o", "html")
}

func results(t *testing.T, namespace string, step archive.Step) *corev1.ConfigMap {
	t.Helper()
	packed, err := archive.Encode(step)
	must.Succeed(t, err)
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hello-0-a"}, BinaryData: map[string][]byte{archive.Key: packed}}
}

func asYAML(t *testing.T, object *corev1.ConfigMap) string {
	t.Helper()
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap")) // a client removes it
	text, err := yaml.Marshal(object)
	must.Succeed(t, err)
	return string(text)
}

// What the operator keeps beyond LoadTests is read as if the LoadTest were there.
func TestReportOfWhatWasKept(t *testing.T) {
	p := &testUser{t: t, kubeconfig: "/nowhere"}
	kept := func(namespace, name, uid, completed, verdict string, more ...string) string {
		lt := "{apiVersion: loadtest.dev/v1beta1, kind: LoadTest, metadata: {name: " + name + ", namespace: " + namespace + ", uid: " + uid + "}, " +
			"status: {" + strings.Join(more, "") + "verdict: " + verdict + ", completionTime: '" + completed + "', phase: Finished, conditions: [{type: Finished, status: 'True'}]}}"
		list := "{apiVersion: v1, kind: List, items: [" + lt + "]}"
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write([]byte(list)); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		return packed.String()
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"shop/checkout/b.json.gz":  kept("shop", "checkout", "b", "2026-11-22T10:00:00Z", "Failed"),
		"shop/checkout/a.json.gz":  kept("shop", "checkout", "a", "2026-11-22T11:00:00Z", "Inconclusive"),
		"other/checkout/c.json.gz": kept("other", "checkout", "c", "2026-11-22T12:00:00Z", "Passed", "loads: [{name: one, test: shoppers, uid: d}, {name: two, test: ../..}], "),
		"other/shoppers/d.json.gz": kept("other", "shoppers", "d", "2026-11-22T12:00:00Z", "Failed"),
	} {
		name = filepath.Join(folder, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Succeed(t, os.WriteFile(name, []byte(content), 0o600))
	}
	serveBucket(t, folder)
	one := filepath.Join(folder, "shop/checkout/b.json.gz")
	file := must.ReadFile(t, one)
	for want, got := range map[string]answer{
		"shop/checkout: ❌ Failed":              p.run("report", "--from", one, "-o", "markdown"),
		"## shop/checkout: ❌ Failed":           p.execute(t.Context(), &screen{}, string(file), "report", "--from", "-", "-o", "markdown"),
		"shop/checkout: ⚠️ Inconclusive":       p.run("report", "checkout", "-n", "shop", "--from", folder, "-o", "markdown"),
		"other/checkout: ✅ Passed":             p.run("report", "checkout", "-n", "other", "--from", folder, "-o", "markdown"),
		"other/shoppers: ❌ Failed":             p.run("report", "checkout", "-n", "other", "--from", folder+"/", "-o", "markdown"),
		"## other/shoppers: ❌ Failed":          p.run("report", "checkout", "-n", "other", "--from", "s3://kept", "-o", "markdown"),
		`href="#load_one"`:                     p.run("report", "checkout", "-n", "other", "--from", "s3://kept/", "-o", "html"),
		"\"verdict\": \"Failed\"":              p.run("report", "--from", "s3://kept/shop/checkout/b.json.gz", "-o", "json"),
		"\"verdict\": \"Inconclusive\"":        p.run("report", "checkout", "-n", "shop", "--from", "s3://kept", "-o", "json"),
		"checkout   0001-01-01 00:00   Failed": p.run("trend", "checkout", "-n", "shop", "--from", "s3://kept"),
	} {
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("exit code %d, %s%s, want %q", got.code, got.err, got.out, want)
		}
	}
	contains(t, "the log", p.run("report", "checkout", "-n", "other", "--from", folder).err, "the report of load two is left out: ")
	p.refuses(map[string][]string{
		"leave out the name":                          {"report", "checkout", "--from", one},
		"is a folder of many runs: name the LoadTest": {"report", "--from", folder},
		"contains no shop/nothing/*.json.gz":          {"report", "nothing", "-n", "shop", "--from", folder},
		"no such file":                                {"report", "--from", folder + "/nothing"},
		"give either -f or --from":                    {"report", "--from", one, "-f", one},
		"is a prefix of many runs: name the LoadTest": {"report", "--from", "s3://kept"},
		"s3://kept: contains no shop/nothing*/*.json": {"trend", "nothing", "-n", "shop", "--from", "s3://kept"},
		"s3://kept/x.json.gz: the object store":       {"report", "--from", "s3://kept/x.json.gz"},
		"decompress: unexpected EOF":                  {"report", "--from", p.file(string(file[:len(file)-9]))},
	})
}

// serveBucket serves the files of a folder as an object store does a bucket, and has this process use it.
// What it copies is removed when it has been read.
func serveBucket(t *testing.T, folder string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key, isObject := strings.CutPrefix(r.URL.Path, "/kept/"); isObject {
			http.ServeFile(w, r, filepath.Join(folder, key))
			return
		}
		files, err := filepath.Glob(filepath.Join(folder, "*", "*", "*"))
		must.Succeed(t, err)
		_, _ = io.WriteString(w, "<ListBucketResult>")
		for _, file := range files {
			if key := strings.TrimPrefix(file, folder+"/"); strings.HasPrefix(key, r.URL.Query().Get("prefix")) {
				_, _ = fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
			}
		}
		_, _ = io.WriteString(w, "</ListBucketResult>")
	}))
	t.Cleanup(server.Close)
	temporary := t.TempDir()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "TMPDIR": temporary} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary folder: %v, %v", left, err)
		}
	})
}
