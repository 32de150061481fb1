package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
)

const (
	// refresh is the interval at which the elapsed time is updated: a bar of 20
	// parts in a step of some seconds moves visibly.
	refresh = 250 * time.Millisecond
	// retry is how long to wait before the API server is asked again.
	retry = time.Second
)

// follower follows one LoadTest to its end.
type follower struct {
	client.WithWatch
	display display.Display
	// latest is the LoadTest as it was last seen.
	latest *v1beta1.LoadTest
	// retry is how long to wait after the API server did not answer, or closed the watch: it may do so at once.
	retry time.Duration
	// trouble is the error that was logged last; empty: the API server has answered since.
	trouble string
	// held says that the run was held when it was last seen.
	held bool
}

// follow shows the LoadTest until it has finished, and returns it. It outlives
// an API server that does not answer for a while.
func (f *follower) follow(ctx context.Context) (*v1beta1.LoadTest, error) {
	defer f.display.Clear()
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		err := f.read(ctx)
		if err == nil && !progress.Finished(f.latest) {
			err = f.watchUntilClosed(ctx, ticker.C)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && final(err):
			return nil, err
		case err == nil && progress.Finished(f.latest):
			return f.latest, nil
		}
		f.logOnce(err)
		if err := pause(ctx, f.retry); err != nil {
			return nil, err
		}
	}
}

// read gets the LoadTest and makes sure that it is still the same one.
func (f *follower) read(ctx context.Context) error {
	lt := &v1beta1.LoadTest{}
	if err := f.Get(ctx, client.ObjectKeyFromObject(f.latest), lt); err != nil {
		return err
	}
	return f.see(lt)
}

func (f *follower) see(lt *v1beta1.LoadTest) error {
	if f.latest.UID != "" && lt.UID != f.latest.UID {
		return errGone{lt.Name}
	}
	f.latest = lt
	f.sayHeld()
	f.show()
	return nil
}

// sayHeld says once how to start a run that is held.
func (f *follower) sayHeld() {
	held := f.latest.Spec.Suspend && !progress.Finished(f.latest)
	if held && !f.held {
		f.display.Say(time.Now(), fmt.Sprintf("LoadTest %s/%s is held by spec.suspend; start it with: %s --resume",
			f.latest.Namespace, f.latest.Name, commandLine("watch", f.latest.Namespace, f.latest.Name)))
	}
	f.held = held
}

// errGone ends following: the run has no result any more.
type errGone struct{ name string }

func (e errGone) Error() string {
	return fmt.Sprintf("LoadTest %s was deleted while it was followed", e.name)
}

// watchUntilClosed takes the changes as they come, until the LoadTest has
// finished or the server closes the watch, as it does every few minutes.
func (f *follower) watchUntilClosed(ctx context.Context, tick <-chan time.Time) error {
	w, err := f.Watch(ctx, &v1beta1.LoadTestList{},
		client.InNamespace(f.latest.Namespace), client.MatchingFields{"metadata.name": f.latest.Name},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: f.latest.ResourceVersion}})
	if err != nil {
		return err
	}
	defer w.Stop()
	for !progress.Finished(f.latest) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
			f.show()
		case event, open := <-w.ResultChan():
			if !open {
				return nil
			}
			if err := f.take(event); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *follower) take(event watch.Event) error {
	switch event.Type {
	case watch.Deleted:
		return errGone{f.latest.Name}
	case watch.Error:
		err := apierrors.FromObject(event.Object)
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return nil // read again from the start
		}
		return err
	}
	lt, ok := event.Object.(*v1beta1.LoadTest)
	if !ok {
		return nil
	}
	return f.see(lt)
}

func (f *follower) show() {
	now := time.Now()
	f.display.Show(now, func(width, height int) []string { return progress.View(f.latest, now, width, height) }, progress.Line(f.latest))
}

// noAnswer is what is said of an error after which the API server is asked again.
func noAnswer(message string) string {
	return "the API server does not answer, trying again: " + message
}

// logOnce logs an error once, until there is none.
func (f *follower) logOnce(err error) {
	if err == nil {
		f.trouble = ""
	} else if message := err.Error(); message != f.trouble {
		f.trouble = message
		f.display.Say(time.Now(), noAnswer(message))
	}
}

// final says whether trying again is of no use.
func final(err error) bool {
	var gone errGone
	return errors.As(err, &gone) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
