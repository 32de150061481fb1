package command_test

import (
	"strings"
	"testing"
)

// A report is made from a saved LoadTest alone, and is the same as from the cluster.
func TestReportOfASavedLoadTest(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(finished("Failed"))
	text := p.run("report", "hello").out
	offline := &testUser{t: t, kubeconfig: "/nowhere"}
	for _, form := range []string{"yaml", "json"} {
		saved := p.run("report", "hello", "-o", form)
		contains(t, form, saved.out, "LoadTest", "loadtest.dev/v1beta1", "Failed")
		if strings.Contains(saved.out, "managedFields") {
			t.Errorf("the saved %s has managed fields:\n%s", form, saved.out)
		}
		if got := offline.run("report", "-f", p.file(saved.out)); got.code != 0 || got.out != text {
			t.Errorf("the report of the saved %s: exit code %d, %s\n%s\nwant:\n%s", form, got.code, got.err, got.out, text)
		}
		if got := offline.execute(t.Context(), &screen{}, saved.out, "report", "-f", "-"); got.out != text {
			t.Errorf("the report of the %s on the standard input: exit code %d, %s\n%s", form, got.code, got.err, got.out)
		}
	}
}

func TestReportForms(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(finished("Failed"))
	for form, want := range map[string]string{
		"markdown": "/hello: ❌ Failed\n",
		"html":     `<p class="word">Failed</p>`,
		"junit":    `<testcase classname="` + p.namespace + `.hello" name="step 10 users is complete"`,
		"yaml":     "verdict: Failed\n",
	} {
		got := p.run("report", "hello", "-o", form)
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("-o %s: exit code %d, %s, without %q:\n%s", form, got.code, got.err, want, got.out)
		}
	}
	p.run("report", "hello", "-o", "hgrm").fails(t, "no step has a histogram")
}

func TestPageHasTheLoadsThatExist(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	one := p.createNamed("sale-readers", finished("Failed"))
	p.createNamed("sale", strings.Replace(finished("Failed"), "{phase:", "{loads: [{name: readers, test: sale-readers, uid: "+string(one.UID)+"}, {name: gone, test: sale-gone, uid: x}], phase:", 1))
	contains(t, "the page", p.run("report", "sale", "-o", "html").out, `<h1 id="load_readers">sale-readers</h1>`, "are in LoadTests sale-gone.")
}

func TestStepsOfLoadsAreReportedByTheirLoadTests(t *testing.T) {
	p := &testUser{t: t, kubeconfig: "/nowhere"}
	saved := manifest("sale") + "status: {loads: [{name: readers, test: sale-readers}]}\n"
	p.run("report", "-f", p.file(saved), "-o", "hgrm").fails(t, "each has steps of its own: report sale-readers")
}

// No cluster has the LoadTests of the loads of a local run: what it writes has them, and report reads it.
func TestReportReadsALocalRunWithLoads(t *testing.T) {
	url, _ := answering(t, 200)
	test := write(t, "a.yaml", "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: {name: both}\n"+
		"spec: {target: {url: "+url+"}, requests: [{name: c, http: {path: /}}], loads: [{name: one, steps: [{name: uphill, users: 2, requestsPerUser: 2}]}, {name: two, steps: [{name: downhill, users: 1, requestsPerUser: 2}]}]}\n")
	for _, output := range []string{"json", "yaml"} {
		ran := alone(t.Context(), t, "run", "--local", "-f", test, "-o", output)
		saved := write(t, "saved", ran.out)
		contains(t, "the report", alone(t.Context(), t, "report", "-f", saved).out, "LoadTest local/both\n", "LoadTest local/both-one\n", "uphill", "downhill")
		contains(t, "the page", alone(t.Context(), t, "report", "-f", saved, "-o", "html").out, `href="#load_two"`, "downhill")
		contains(t, "the page of a load", alone(t.Context(), t, "report", "-f", saved, "both-two", "-o", "html").out, "<h1>both-two</h1>", "downhill")
		contains(t, "the suites", alone(t.Context(), t, "report", "-f", saved, "-o", "junit").out, `<testsuite name="local/both"`, `name="step uphill is complete"`, `name="step downhill is complete"`)
	}
	page := alone(t.Context(), t, "run", "--local", "-f", test, "-o", "html").out
	contains(t, "the page", page, `<h1 id="load_one">both-one</h1>`, "uphill", `<h1 id="load_two">both-two</h1>`, "downhill")
	if n := strings.Count(page, "Rate over time"); n != 2 {
		t.Errorf("%d of 2 loads have plots over time", n)
	}
	if got := alone(t.Context(), t, "run", "--local", "-f", test, "-o", "hgrm"); got.code != 4 || strings.Contains(got.err, "Running") ||
		!strings.Contains(got.err, "-o hgrm: LoadTest both sends several loads, and each has steps of its own: use -o yaml > FILE, and then report -f FILE NAME -o hgrm, with the name of") {
		t.Errorf("exit code %d, %s", got.code, got.err)
	}
}

func TestReportOfALoadSaysThatTheRunEndedIt(t *testing.T) {
	p := &testUser{t: t, kubeconfig: "/nowhere"}
	saved := p.file(manifest("sale") + "status: {loads: [{name: readers, test: sale-readers, ended: true, verdict: Inconclusive}]}\n---" + manifest("sale-readers"))
	contains(t, "the text", p.run("report", "-f", saved).out, "\n\nLoad readers of sale, which ended it\n\nLoadTest ")
	contains(t, "the Markdown", p.run("report", "-f", saved, "-o", "markdown").out, "\n\n---\n\n**Load readers of sale, which ended it**\n\n## ")
}

// What a file has of a run with loads is compared load by load.
func TestLoadsOfFilesAreComparedOneByOne(t *testing.T) {
	p := &testUser{t: t, kubeconfig: "/nowhere"}
	saved := p.file(manifest("sale") + "status: {conditions: [{type: Finished, status: 'True'}], loads: [{name: readers, test: sale-readers}]}\n---" + manifest("sale-readers") + "status: {conditions: [{type: Finished, status: 'True'}]}\n")
	p.run("compare", "-f", saved, "-f", saved).fails(t, "such as sale-readers; from a file that has all of them, report -f FILE sale-readers -o yaml writes one")
	readers := p.file(p.run("report", "-f", saved, "sale-readers", "-o", "yaml").out)
	contains(t, "the comparison", p.run("compare", "-f", readers, "-f", readers).out, "sale-readers")
}

func TestReportRefusesWhatIsNotOneLoadTest(t *testing.T) {
	p := &testUser{t: t, kubeconfig: "/nowhere"}
	one := p.file(manifest("a"))
	p.refuses(map[string][]string{
		"holds no LoadTest hello; it has a": {"report", "hello", "-f", one},
		"holds 2 LoadTests":                 {"report", "-f", p.file(manifest("a") + "---" + manifest("b"))},
		"holds no LoadTest":                 {"report", "-f", p.file("")},
		"no such file":                      {"report", "-f", "/nowhere/at/all"},
		"takes the NAME of one LoadTest":    {"report"},
		"--step needs -o hgrm or vegeta or vegeta-text: -o text is of all steps": {"report", "-f", one, "--step", "s"},
		"is a Pod of v1, not a LoadTest":                                         {"report", "-f", p.file("{apiVersion: v1, kind: Pod, metadata: {name: a}}")},
	})
}
