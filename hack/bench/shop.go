package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

// shopUsers are the customers of the shop at once.
const shopUsers = 32

// purchase is the requests of one journey, by the kinds that the shop counts.
var purchase = map[string]int64{
	"GET /login": 1, "POST /login": 1, "GET /{$}": 1, "GET /search": 1, "POST /cart": 1, "POST /checkout": 1, "GET /orders/{id}": 2, paidOrder: 1,
}

// paidOrder is the last request of a purchase.
const paidOrder = "GET /orders/{id}, paid"

// script is a purchase in the language of one generator.
type script struct {
	contender
	file, text, comment string
}

// benchShop measures what a purchase costs three generators, each with the file that its users
// would write.
func benchShop(ctx context.Context, b *bench) (string, error) {
	d := b.length(20 * time.Second)
	list, missing, err := b.scripts(ctx, d)
	if err != nil {
		return "", err
	}
	results := map[key][]sample{}
	for round := range b.rounds {
		for _, c := range list {
			s, err := b.measureOn(ctx, c.contender, func() (server, error) { return b.serveBy("shop", serverCore) })
			if err != nil {
				return "", err
			}
			if err := samePurchases(s.counters, shopUsers); err != nil {
				return "", fmt.Errorf("%s: %w", c.name, err)
			}
			fmt.Fprintf(b.log, "round %d: %-12s %8.0f/s %7.2f us\n", round+1, c.name, s.rate(), s.generatorCost())
			results[c.key()] = append(results[c.key()], s)
		}
	}
	fmt.Fprintf(b.out, "One core for the generator, one for the shop, %d users without think time, %v, medians of %d rounds, and of their ratios.\n"+
		"A purchase is %d requests, by the shop's own count, which refused none. Lines and characters are those of the file without blank\n"+
		"lines, comments and indentation; the file of the words is the same for all. The processor time before the first request does not\n"+
		"count: a generator loads its program then. Requests per second of a core are those of a second of the generator's processor time.\n"+
		"Ours and k6 read the token of the form by a selector, Locust by a regular expression.\n\n", shopUsers, d, b.rounds, perPurchase())
	writeScripts(b.out, list, results)
	if names := disturbed(results); len(names) > 0 {
		fmt.Fprintf(b.out, "\nDo not trust this run: something else kept cores busy, since neither generator nor server had its own with %s.\n",
			strings.Join(names, ", "))
	}
	for _, m := range missing {
		fmt.Fprintf(b.out, "\nNot measured: %s\n", m)
	}
	return shopLine(list, results), nil
}

// scripts are the three generators, ours first; missing says which cannot be had, and why.
func (b *bench) scripts(ctx context.Context, d time.Duration) (list []script, missing []string, err error) {
	test, err := readShop(b.shopFile("shop.yaml"))
	if err != nil {
		return nil, nil, err
	}
	list = append(list, script{contender: b.ourShop(test, d), file: "shop.yaml", comment: "#"})
	k6, err := peer.Named("k6")
	if err != nil {
		return nil, nil, err
	}
	if path, err := b.peers.Find(ctx, k6); err != nil {
		missing = append(missing, fmt.Sprintf("k6 %s (%v)", k6.Version, err))
	} else {
		list = append(list, script{contender: b.scripted("k6", path, "shop.js", d, peer.K6Script), file: "shop.js", comment: "//"})
	}
	if path, version, err := b.peers.PyPI(ctx, "locust", b.shopFile("requirements.txt")); err != nil {
		missing = append(missing, fmt.Sprintf("locust %s (%v)", version, err))
	} else {
		list = append(list, script{contender: b.scripted("locust", path, "shop.py", d, peer.LocustScript), file: "shop.py", comment: "#"})
	}
	for i := range list {
		text, err := os.ReadFile(b.shopFile(list[i].file))
		if err != nil {
			return nil, nil, err
		}
		list[i].text = string(text)
	}
	return list, missing, ctx.Err()
}

func (b *bench) shopFile(name string) string {
	return filepath.Join(b.root, "hack", "bench", "shop", name)
}

// readShop reads the LoadTest of the shop.
func readShop(path string) (*v1beta1.LoadTest, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lt := &v1beta1.LoadTest{}
	if err := yaml.UnmarshalStrict(text, lt); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lt.UID = "bench"
	return lt, nil
}

// atShop is a LoadTest of the shop at a URL, for a time.
func atShop(lt *v1beta1.LoadTest, url string, d time.Duration) *v1beta1.LoadTest {
	lt = lt.DeepCopy()
	one, users := int32(1), int32(shopUsers)
	lt.Spec.Parallelism, lt.Spec.Target.Service, lt.Spec.Target.URL = &one, nil, url
	for i := range lt.Spec.Steps {
		lt.Spec.Steps[i].Users, lt.Spec.Steps[i].Duration = &users, harness.Lasting(d)
	}
	return lt
}

// ourShop is our worker with the LoadTest of the shop.
func (b *bench) ourShop(lt *v1beta1.LoadTest, d time.Duration) contender {
	return contender{name: "loadworker", over: overTCP, drive: func(ctx context.Context, at server) (process.Usage, error) {
		w, err := b.startWorker(atShop(lt, at.url(), d), 0, generatorCore, "")
		if err != nil {
			return process.Usage{}, err
		}
		return sinceFirst(ctx, at, w.Process, func() (process.Usage, error) {
			c := crew{w}
			if err := c.ready(); err != nil {
				return process.Usage{}, err
			}
			if _, _, err := c.run(0); err != nil {
				return process.Usage{}, err
			}
			return c.stop()
		})
	}}
}

// scripted is a peer with its script of the shop.
func (b *bench) scripted(name, path, file string, d time.Duration, with func(peer.ScriptLoad) peer.Invocation) contender {
	return contender{name: name, over: overTCP, drive: func(ctx context.Context, at server) (process.Usage, error) {
		i := with(peer.ScriptLoad{Script: b.shopFile(file), URL: at.url(), Users: shopUsers, Seconds: int(d / time.Second)})
		p, err := process.Start(process.Command{Path: path, Args: i.Args, Core: generatorCore, Stdin: strings.NewReader(""), Stdout: io.Discard})
		if err != nil {
			return process.Usage{}, err
		}
		defer context.AfterFunc(ctx, p.Kill)()
		return sinceFirst(ctx, at, p, p.Wait)
	}}
}

// sinceFirst waits for the end of a generator. Its usage is without the processor time before its
// first request.
func sinceFirst(ctx context.Context, at server, p *process.Process, end func() (process.Usage, error)) (process.Usage, error) {
	shop, ok := at.(*target)
	if !ok {
		return process.Usage{}, errors.New("the server does not say when the first request came")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type before struct {
		cpu time.Duration
		err error
	}
	first := make(chan before, 1)
	go func() {
		err := shop.begun(ctx)
		if err != nil {
			first <- before{err: err}
			return
		}
		cpu, err := p.CPU()
		first <- before{cpu, err}
	}()
	u, err := end()
	cancel()
	if err != nil {
		return u, err
	}
	b := <-first
	u.CPU -= b.cpu
	return u, b.err
}

// samePurchases says whether a generator sent whole purchases and nothing else, but for the one of
// each user that its end cut.
func samePurchases(c groundtruth.Counters, users int64) error {
	if c.Answered != c.Requests {
		return fmt.Errorf("the shop refused %d of %d requests", c.Requests-c.Answered, c.Requests)
	}
	done, all := c.Routes[paidOrder], int64(0)
	if done == 0 {
		return fmt.Errorf("no order was paid: the shop counted %v", c.Routes)
	}
	for kind, each := range purchase {
		n := c.Routes[kind]
		if all += n; n < done*each || n > (done+users)*each {
			return fmt.Errorf("%d purchases of %d users have %d times %s, want %d each", done, users, n, kind, each)
		}
	}
	if all != c.Requests {
		return fmt.Errorf("%d of %d requests are no part of a purchase: the shop counted %v", c.Requests-all, c.Requests, c.Routes)
	}
	return nil
}

// perPurchase is how many requests a purchase has.
func perPurchase() (n int64) {
	for _, each := range purchase {
		n += each
	}
	return n
}

// purchases are those that were completed, per second.
func (s sample) purchases() float64 {
	if s.span() <= 0 {
		return 0
	}
	return float64(s.counters.Routes[paidOrder]) / s.span().Seconds()
}

// size counts the lines of a script that are neither blank nor a comment, and their characters
// without indentation.
func size(text, comment string) (lines, characters int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, comment) {
			continue
		}
		lines++
		characters += utf8.RuneCountInString(line)
	}
	return lines, characters
}

func writeScripts(w io.Writer, list []script, results map[key][]sample) {
	t := newTable("generator", "file", "lines", "characters", "journeys/s", "requests/s (min..max)", "CPU us/req",
		"requests/s of a core", "x k6", "x locust", "cores", "shop's cores", "RSS MB")
	for _, c := range list {
		samples := results[c.key()]
		lines, characters := size(c.text, c.comment)
		t.row(c.name, c.file, lines, characters, typical(samples, sample.purchases, 0), spread(column(samples, sample.rate)),
			typical(samples, sample.generatorCost, 2), typical(samples, sample.perCPU, 0),
			byCore(results, c.name, "k6"), byCore(results, c.name, "locust"),
			typical(samples, sample.generatorCores, 2), typical(samples, sample.serverCores, 2), typical(samples, sample.megabytes, 1))
	}
	t.write(w)
}

// byCore is how many times as many requests a generator sends for each second of processor time as
// another; empty if that was not measured.
func byCore(results map[key][]sample, name, other string) string {
	theirs, ok := results[key{other, overTCP}]
	if !ok {
		return ""
	}
	return digits(ratio(column(results[key{name, overTCP}], sample.perCPU), column(theirs, sample.perCPU)), 2)
}

// shopLine is the last line, with what was measured.
func shopLine(list []script, results map[key][]sample) string {
	var line strings.Builder
	line.WriteString("bench-shop:")
	for i, c := range list {
		lines, _ := size(c.text, c.comment)
		if i == 0 {
			fmt.Fprintf(&line, " lines=%d", lines)
			continue
		}
		fmt.Fprintf(&line, " lines-%[1]s=%[2]d requests-per-core-vs-%[1]s=%[3]s", c.name, lines, byCore(results, list[0].name, c.name))
	}
	return line.String()
}
