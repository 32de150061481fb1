package redis

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const someID = "019b7c2f-5a3d-7000-8000-0123456789ab"

func TestClickForm(t *testing.T) {
	click := shortener.Click{ID: someID, Code: "abc", At: start}
	got := encodeClick(click)
	want := &redis.XAddArgs{Stream: "clicks", Values: []string{"id", someID, "code", "abc", "at", "1767323045678901"}}
	same.As(t, "entry", want, got)
}

func TestDecodeClick(t *testing.T) {
	valid := map[string]any{"id": someID, "code": "abc", "at": "1767323045678901"}
	with := func(field string, value any) map[string]any {
		values := map[string]any{}
		for k, v := range valid {
			values[k] = v
		}
		if values[field] = value; value == nil {
			delete(values, field)
		}
		return values
	}
	tests := map[string]struct {
		values map[string]any
		want   string
	}{
		"valid":              {values: valid},
		"more than is known": {values: with("country", "NL")},
		"no id":              {values: with("id", nil), want: "entry 1-0 has no field id"},
		"no code":            {values: with("code", nil), want: "entry 1-0 has no field code"},
		"no time":            {values: with("at", nil), want: "entry 1-0 has no field at"},
		"not a time":         {values: with("at", "yesterday"), want: "field at of entry 1-0"},
		"not an id":          {values: with("id", "1"), want: `entry 1-0: id "1" of a click`},
		"not a code":         {values: with("code", "a b"), want: `entry 1-0: code "a b" of a click`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := decodeClick(redis.XMessage{ID: "1-0", Values: tt.values})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error is %v, want one that says %q", err, tt.want)
				}
				return
			}
			must.Succeed(t, err)
			same.As(t, "click", shortener.Click{ID: someID, Code: "abc", At: start}, got)
		})
	}
}

// members returns the names of the group's consumers.
func members(t *testing.T, client *Client) []string {
	t.Helper()
	consumers, err := client.redis.XInfoConsumers(t.Context(), Stream, Group).Result()
	must.Succeed(t, err)
	var names []string
	for _, c := range consumers {
		names = append(names, c.Name)
	}
	return names
}

func TestConsumersLeaveWhenNothingIsOpen(t *testing.T) {
	client := open(t, redistest.Start(t))
	consumer := newConsumer(t, client, nil, ConsumerConfig{Name: "leaving", Count: func(shortener.Event, int) {}})
	must.Succeed(t, consumer.join(t.Context()))
	click := shortener.Click{ID: someID, Code: "abc", At: start}
	must.Succeed(t, client.redis.XAdd(t.Context(), encodeClick(click)).Err())
	read, err := client.redis.XReadGroup(t.Context(), &redis.XReadGroupArgs{
		Group: Group, Consumer: "leaving", Streams: []string{Stream, ">"},
	}).Result()
	must.Succeed(t, err)

	// Others find its unacknowledged entries under its name.
	consumer.leave(t.Context())
	same.As(t, "group with an open entry", []string{"leaving"}, members(t, client))
	must.Succeed(t, consumer.acknowledge(t.Context(), read[0].Messages))
	consumer.leave(t.Context())
	same.As(t, "group without", []string(nil), members(t, client))
}

// A Redis that lost its data has no group either.
func TestConsumerRecreatesGroup(t *testing.T) {
	client := open(t, redistest.Start(t))
	added := make(chan []shortener.Click, 2)
	consumer := newConsumer(t, client, storeFunc(func(clicks []shortener.Click) { added <- clicks }),
		ConsumerConfig{Name: "here", Count: func(shortener.Event, int) {}})
	ended := make(chan error)
	ctx, stop := withCancel(t)
	go func() { ended <- consumer.Run(ctx) }()
	click := shortener.Click{ID: someID, Code: "abc", At: start}
	for range 2 {
		must.Succeed(t, client.redis.XAdd(t.Context(), encodeClick(click)).Err())
		same.As(t, "clicks", []shortener.Click{click}, await.Receive(t, "a click is stored", added))
		must.Succeed(t, client.redis.FlushAll(t.Context()).Err())
	}
	stop()
	must.Report(t, "consumer ended with", <-ended)
}
