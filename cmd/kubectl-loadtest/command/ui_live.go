package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// liveOptions are the flags of a page beside a run.
type liveOptions struct {
	enabled bool
	port    int
	links   linkOptions
}

func (o *liveOptions) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&o.enabled, "ui", false, "Serve a page that follows the run, as the command ui does, until Ctrl-C; after the end, too")
	o.links.bind(flags)
	bindPort(flags, &o.port)
}

func (o *liveOptions) check(flags *pflag.FlagSet) error {
	for _, name := range []string{"port", "links"} {
		if flags.Changed(name) && !o.enabled {
			return fmt.Errorf("--%s needs --ui, whose page it is for", name)
		}
	}
	return checkPort(o.port)
}

// bindPort defines the flag --port.
func bindPort(flags *pflag.FlagSet, port *int) {
	flags.IntVar(port, "port", 0, "Port of the pages on 127.0.0.1; 0: one that is free")
}

func checkPort(port int) error {
	const last = 65535
	if port < 0 || port > last {
		return fmt.Errorf("--port must be between 0 and %d, not %d", last, port)
	}
	return nil
}

// live is the page beside a run. Without --ui it is nil.
type live struct {
	config *config
	port   int
	links  *linkOptions
	// serve starts what goes on until the command is interrupted.
	serve  func(start func(context.Context, *errgroup.Group) (*ui.Server, error)) (*ui.Server, error)
	server *ui.Server
	local  *localBackend
}

// withLive does something beside which a page may be served. The page stays after it has been
// done, until the command is interrupted: ctx is that of the whole command.
func (c *config) withLive(ctx context.Context, o *liveOptions, do func(*live) error) error {
	if !o.enabled {
		return do(nil)
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx)) // an interrupt ends the run first
	defer end()
	group, serving := errgroup.WithContext(serving)
	l := &live{config: c, port: o.port, links: &o.links, serve: func(start func(context.Context, *errgroup.Group) (*ui.Server, error)) (*ui.Server, error) {
		return start(serving, group)
	}}
	err := do(l)
	var verdict exitcode.Verdict
	if l.server != nil && ctx.Err() == nil && (err == nil || errors.As(err, &verdict)) {
		c.warn("The page stays until Ctrl-C: " + l.server.URL)
		select {
		case <-ctx.Done():
		case <-serving.Done():
		}
	}
	end()
	return errors.Join(err, group.Wait())
}

// announce prints where the page of a run is.
func (l *live) announce(lt *v1beta1.LoadTest) {
	l.config.warn("Follow it in the browser: " + l.server.URL + "run/" + url.PathEscape(lt.Namespace) + "/" + url.PathEscape(lt.Name))
}

// follow opens the page of a run in a cluster. The namespace is that of the first run.
func (l *live) follow(cluster *cluster, lt *v1beta1.LoadTest) error {
	if l == nil {
		return nil
	}
	if l.server == nil {
		server, err := l.serve(func(ctx context.Context, group *errgroup.Group) (*ui.Server, error) {
			return l.config.serveCluster(ctx, group, cluster, lt.Namespace, l.port, l.links)
		})
		if err != nil {
			return err
		}
		l.server = server
	}
	l.announce(lt)
	return nil
}

// Runs opens the page of a run on this machine.
func (l *live) Runs(ctx context.Context, lt *v1beta1.LoadTest) (terminate <-chan struct{}, err error) {
	if l.server == nil {
		l.local = &localBackend{known: runs.NewCollection(), tests: map[runs.Key]*v1beta1.LoadTest{}, results: map[types.UID][]*archive.Step{}}
		l.local.known.Complete()
		to, err := l.config.templates(ctx, l.links, nil)
		if err != nil {
			return nil, err
		}
		l.server, err = l.serve(func(serving context.Context, group *errgroup.Group) (*ui.Server, error) {
			server, err := ui.Listen(l.port, ui.Config{
				Runs: l.local.known, Backend: l.local, Scope: "this machine", Links: to, Report: html.Linked(to), Now: time.Now,
			})
			if err == nil {
				group.Go(func() error { return server.Serve(serving) })
			}
			return server, err
		})
		if err != nil {
			return nil, err
		}
	}
	l.Show(lt)
	l.announce(lt)
	return l.local.begin(ctx, lt), nil
}

// Show takes the state of a run on this machine.
func (l *live) Show(lt *v1beta1.LoadTest) { l.local.show(lt) }

// Keep takes the results of a step on this machine.
func (l *live) Keep(step *archive.Step) { l.local.keep(step) }

// localBackend has the runs of this machine.
type localBackend struct {
	known *runs.Collection

	mu      sync.Mutex
	tests   map[runs.Key]*v1beta1.LoadTest
	results map[types.UID][]*archive.Step
	// running is the one that runs, and stop ends it.
	running runs.Key
	stop    func()
}

var _ ui.Backend = (*localBackend)(nil)

// begin returns what ends the run that begins.
func (b *localBackend) begin(ctx context.Context, lt *v1beta1.LoadTest) <-chan struct{} {
	ending := make(chan struct{})
	stop := sync.OnceFunc(func() { close(ending) })
	context.AfterFunc(ctx, stop)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.stop = runs.Key{Namespace: lt.Namespace, Name: lt.Name}, stop
	return ending
}

// show keeps a copy of a run that has changed: its owner goes on to change it.
func (b *localBackend) show(lt *v1beta1.LoadTest) {
	key := runs.Key{Namespace: lt.Namespace, Name: lt.Name}
	b.mu.Lock()
	last := b.tests[key]
	if last != nil && last.UID == lt.UID && last.Generation == lt.Generation && equality.Semantic.DeepEqual(last.Status, lt.Status) {
		b.mu.Unlock()
		return
	}
	shown := lt.DeepCopy()
	b.tests[key] = shown
	b.mu.Unlock()
	b.known.Put(shown)
}

func (b *localBackend) keep(step *archive.Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	uid := types.UID(step.UID)
	b.results[uid] = append(b.results[uid], step)
}

func (b *localBackend) Open(_ context.Context, key runs.Key) (*v1beta1.LoadTest, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if lt := b.tests[key]; lt != nil {
		return lt, nil
	}
	return nil, fmt.Errorf("LoadTest %s/%s did not run on this machine", key.Namespace, key.Name)
}

func (b *localBackend) Results(_ context.Context, lt *v1beta1.LoadTest) ([]*archive.Step, []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.results[lt.UID]), nil
}

func (b *localBackend) Stop(_ context.Context, key runs.Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isRunning(key) || b.stop == nil {
		return fmt.Errorf("LoadTest %s/%s does not run", key.Namespace, key.Name)
	}
	b.stop()
	return nil
}

// isRunning says whether a LoadTest is the one that runs, or of one of its loads, which end together.
func (b *localBackend) isRunning(key runs.Key) bool {
	lt, running := b.tests[key], b.tests[b.running]
	return lt != nil && running != nil && (lt == running || metav1.IsControlledBy(lt, running))
}

func (b *localBackend) Again(context.Context, runs.Key) (runs.Key, error) {
	return runs.Key{}, errors.New("on this machine, a run is started again by the same command")
}
