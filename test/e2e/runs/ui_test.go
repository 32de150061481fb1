//go:build e2e

package runs

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/browser"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// followed are runs that are followed on their pages.
const followed = `
target: {service: {name: counter}}
requests: [{name: home, http: {path: /run}}]
steps: [{name: steady, rate: 20, duration: %s}]
worker: {resources: {requests: {cpu: 20m, memory: 32Mi}}}
`

// TestUI follows runs by the plugin, as its user does: one to its end, and one until it is stopped on
// its page. What else the pages show and do is tested by test/ui.
func TestUI(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	ns := cluster.Namespace(t)
	_, err := cluster.StartCounter(t.Context(), ns, "")
	must.Succeed(t, err)
	url, _ := serve(t, ns)
	tab := b.Open(t, url)
	tab.Await(t, `document.getElementById("connection").textContent === "Live"`)
	short := cluster.Create(t, ns, "short", fmt.Sprintf(followed, "8s"))
	long := cluster.Create(t, ns, "long", fmt.Sprintf(followed, "10m"))
	tab.Await(t, `document.querySelector("main").innerText.includes("short") && document.querySelector("main").innerText.includes("long")`)
	tab.Go(t, url+"run/"+ns+"/short")
	tab.Await(t, `/\b(19|20|21)\/s/.test(document.querySelector("#part-figures").innerText)`)
	cluster.Finish(t, short)
	word := `document.querySelector("#part-verdict .word").textContent === `
	tab.Await(t, word+strconv.Quote(string(short.Status.Verdict)))
	tab.Await(t, `document.querySelector("main").innerText.includes("160")`) // requests
	tab.Go(t, url+"run/"+ns+"/long")
	tab.Await(t, `document.querySelector(".actions a[href*='/stop/']") !== null`)
	tab.Click(t, ".actions a[href*='/stop/']")
	tab.Await(t, `document.readyState === "complete" && document.querySelector("h1").textContent === "Stop long?"`)
	tab.Click(t, ".question button")
	tab.Await(t, word+`"Canceled"`)
	cluster.Finish(t, long)
	if long.Status.Verdict != v1beta1.VerdictCanceled {
		t.Errorf("the run that was stopped on its page is %s", long.Status.Verdict)
	}
	if said := b.Errors(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// TestFollowing prints what following ten runs takes of a processor and of the API server.
func TestFollowing(t *testing.T) {
	cluster.OnlyFull(t)
	const runs, length = 10, 30 * time.Second
	ns := cluster.Namespace(t)
	_, err := cluster.StartCounter(t.Context(), ns, "")
	must.Succeed(t, err)
	url, pid := serve(t, ns)
	var list []*v1beta1.LoadTest
	for i := range runs {
		list = append(list, cluster.Create(t, ns, fmt.Sprintf("run-%d", i), fmt.Sprintf(followed, "2m")))
	}
	for _, lt := range list {
		cluster.Until(t, lt, "it sends", cluster.Sending)
		follow(t, url, "/run/"+ns+"/"+lt.Name)
	}
	ticksBefore, readBefore := usage(t, pid)
	<-time.After(length) // the span that is measured
	ticks, read := usage(t, pid)
	const ticksPerSecond = 100
	fmt.Printf("ui: following=%d cpu-percent=%.1f received-kb-per-s=%.0f\n", runs,
		100*float64(ticks-ticksBefore)/ticksPerSecond/length.Seconds(), float64(read-readBefore)/1000/length.Seconds())
}

// follow is told of the changes of a page until the test ends. A browser has six connections to a
// server, so that it does not follow ten pages at once.
func follow(t *testing.T, url, page string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"events?page="+page, nil)
	must.Succeed(t, err)
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	go func() {
		_, _ = io.Copy(io.Discard, response.Body) // until the context of the request ends
		_ = response.Body.Close()
	}()
}

// serve starts the plugin's pages of a namespace.
func serve(t *testing.T, namespace string) (url string, pid int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "kubectl-loadtest", "ui", "-n", namespace)
	out, err := command.StdoutPipe()
	must.Succeed(t, err)
	command.Stderr = os.Stderr
	must.Succeed(t, command.Start())
	t.Cleanup(func() { _ = command.Wait() }) // its context has ended it
	line, err := bufio.NewReader(out).ReadString('\n')
	must.Succeed(t, err)
	return strings.TrimSpace(line), command.Process.Pid
}

// usage is the processor time of a process, in ticks, and what it has read, in bytes.
func usage(t *testing.T, pid int) (ticks, read int64) {
	t.Helper()
	stat := must.ReadFile(t, fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		must.Succeed(t, err)
		ticks += n
	}
	counts := must.ReadFile(t, fmt.Sprintf("/proc/%d/io", pid))
	_, err := fmt.Sscanf(string(counts), "rchar: %d", &read)
	must.Succeed(t, err)
	return ticks, read
}
