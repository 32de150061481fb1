package redis

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// group returns a consumer that does not run, a client, and the clicks that its
// store receives.
func group(t *testing.T, forgetAfter time.Duration) (c *Consumer, client *Client, stored *[]shortener.Click) {
	t.Helper()
	client, stored = open(t, redistest.Start(t)), new([]shortener.Click)
	c = newConsumer(t, client, storeFunc(func(clicks []shortener.Click) { *stored = append(*stored, clicks...) }),
		ConsumerConfig{Name: "lives", ForgetAfter: forgetAfter, Count: func(shortener.Event, int) {}})
	must.Succeed(t, c.join(t.Context()))
	return c, client, stored
}

// addConsumer adds a consumer of that name to the group, which then stays silent.
func addConsumer(t *testing.T, client *Client, name string) {
	t.Helper()
	must.Succeed(t, client.redis.XGroupCreateConsumer(t.Context(), Stream, Group, name).Err())
}

func addClick(t *testing.T, client *Client) shortener.Click {
	t.Helper()
	click := shortener.Click{ID: someID, Code: "abc", At: start}
	must.Succeed(t, client.redis.XAdd(t.Context(), encodeClick(click)).Err())
	return click
}

// forgetUntil forgets until the group has those members: to have been silent for
// a millisecond takes one.
func forgetUntil(t *testing.T, c *Consumer, client *Client, want ...string) {
	t.Helper()
	await.True(t, "the dead are struck off", func() bool {
		must.Succeed(t, c.forget(t.Context()))
		return slices.Equal(want, members(t, client))
	})
}

// A name goes when nothing is left under it, and not before.
func TestDeadConsumersAreForgottenWhenNothingIsLeft(t *testing.T) {
	c, client, stored := group(t, time.Millisecond)
	click := addClick(t, client)
	addConsumer(t, client, "empty")
	err := client.redis.XReadGroup(t.Context(), &redis.XReadGroupArgs{Group: Group, Consumer: "full", Streams: []string{Stream, ">"}}).Err()
	must.Succeed(t, err)
	same.As(t, "group", []string{"empty", "full"}, members(t, client))
	forgetUntil(t, c, client, "full")
	await.True(t, "what the dead one left is stored", func() bool {
		must.Succeed(t, c.tidy(t.Context()))
		return len(*stored) > 0
	})
	same.As(t, "clicks", []shortener.Click{click}, *stored)
	forgetUntil(t, c, client)
}

func TestActiveConsumerIsNotRemoved(t *testing.T) {
	c, client, _ := group(t, time.Hour)
	addConsumer(t, client, "silent")
	must.Succeed(t, c.forget(t.Context()))
	same.As(t, "group", []string{"silent"}, members(t, client))
}

// One that waits for a click when its name is struck off gets the click all the
// same, and it is pending under that name, for others to take over.
func TestBlockedConsumerMayBeRemoved(t *testing.T) {
	c, client, _ := group(t, time.Millisecond)
	addConsumer(t, client, "waits")
	ended := make(chan error, 1)
	reader := open(t, client.redis.Options().Addr)
	go func() {
		ended <- reader.redis.XReadGroup(t.Context(), &redis.XReadGroupArgs{
			Group: Group, Consumer: "waits", Streams: []string{Stream, ">"}, Block: time.Minute,
		}).Err()
	}()
	await.True(t, "it waits", func() bool {
		info, err := client.redis.Info(t.Context(), "clients").Result()
		return err == nil && strings.Contains(info, "\nblocked_clients:1\r")
	})
	forgetUntil(t, c, client)
	addClick(t, client)
	must.Succeed(t, <-ended)
	pending, err := client.redis.XPending(t.Context(), Stream, Group).Result()
	must.Succeed(t, err)
	same.As(t, "pending entries by consumer", map[string]int64{"waits": 1}, pending.Consumers)
}

// A running consumer removes the name of a dead one.
func TestRunRemovesDeadConsumers(t *testing.T) {
	c, client, _ := group(t, time.Millisecond)
	addConsumer(t, client, "dead")
	ctx, stop := withCancel(t)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	await.True(t, "the dead one is struck off", func() bool { return !slices.Contains(members(t, client), "dead") })
	stop()
	must.Report(t, "ended", <-ended)
}

// interrupting runs interrupt before a consumer is removed by a command of its own.
type interrupting struct{ interrupt func() }

func (h interrupting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if slices.Contains(command.Args(), any("delconsumer")) {
			h.interrupt()
		}
		return next(ctx, command)
	}
}

func (h interrupting) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h interrupting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// A consumer whose read broke off may be given a click by that read still, when it
// leaves the group. The click is not struck off with its name.
func TestLeavingConsumerLosesNoClick(t *testing.T) {
	c, client, stored := group(t, time.Hour)
	addConsumer(t, client, "lives")
	late := open(t, client.redis.Options().Addr)
	click := addClick(t, client)
	client.redis.AddHook(interrupting{func() {
		must.Report(t, "late read", late.redis.XReadGroup(t.Context(), &redis.XReadGroupArgs{Group: Group, Consumer: "lives", Streams: []string{Stream, ">"}}).Err())
	}})
	c.leave(t.Context())
	c.config.ClaimAfter = 0
	must.Succeed(t, c.abandoned(t.Context()))
	must.Succeed(t, c.fresh(t.Context()))
	same.As(t, "clicks that the next consumer stores", []shortener.Click{click}, *stored)
}
