package text_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/text"
)

const ms = time.Millisecond

func TestShort(t *testing.T) {
	tests := map[time.Duration]string{
		0:                          "0us",
		697 * time.Microsecond:     "697us",
		999_600 * time.Nanosecond:  "1ms",
		4100 * time.Microsecond:    "4.1ms",
		4 * ms:                     "4ms",
		9960 * time.Microsecond:    "10ms",
		41_400 * time.Microsecond:  "41ms",
		999_400 * time.Microsecond: "999ms",
		999_600 * time.Microsecond: "1s",
		3_870 * ms:                 "3.9s",
		72 * time.Second:           "72s",
		time.Hour:                  "3600s",
	}
	for in, want := range tests {
		if got := text.Short(in); got != want {
			t.Errorf("Short(%v) = %s, want %s", in, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	tests := map[string]string{
		"":          "",
		"0.0":       "0/s",
		"0.000023":  "0.000023/s",
		"0.046059":  "0.046/s",
		"0.1":       "0.1/s",
		"0.14":      "0.1/s",
		"0.45":      "0.5/s",
		"4.5":       "4.5/s",
		"5.0":       "5/s",
		"10.4":      "10/s",
		"100.0":     "100/s",
		"9998.3":    "9998/s",
		"9999.4":    "9999/s",
		"9999.5":    "10k/s",
		"9999.6":    "10k/s",
		"21034.0":   "21k/s",
		"999499.9":  "999k/s",
		"999500":    "1M/s",
		"999999.9":  "1M/s",
		"1234567.8": "1.2M/s",
	}
	for in, want := range tests {
		if got := text.Rate(in); got != want {
			t.Errorf("Rate(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestWholeHasNoZeroUnitsAtItsEnd(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0s", 30 * time.Second: "30s", time.Minute: "1m", time.Minute + ms: "1m0.001s", 90 * time.Second: "1m30s",
		time.Hour: "1h", 2*time.Hour + 30*time.Minute: "2h30m", time.Hour + time.Second: "1h0m1s", time.Hour + 1: "1h0m0.000000001s",
	} {
		if got := text.Whole(in); got != want {
			t.Errorf("Whole(%d) = %s, want %s", in, got, want)
		}
	}
}

func TestDigitsLeaveTwoThatCount(t *testing.T) {
	for in, want := range map[float64]int{0: 1, 5: 1, 1: 1, 0.5: 2, -0.02: 3} {
		if got := text.Digits(in); got != want {
			t.Errorf("Digits(%v) = %d, want %d", in, got, want)
		}
	}
}

func TestDecimal(t *testing.T) {
	for in, want := range map[string]string{"41.0": "41", "4.1": "4.1", "40": "40", "0.250": "0.25", "": ""} {
		if got := text.Decimal(in); got != want {
			t.Errorf("Decimal(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	tests := []struct {
		part, whole int64
		want        string
	}{
		{0, 0, ""},
		{0, 10, "0%"},
		{9, 30_000, "0.03%"},
		{36, 100, "36%"},
		{1, 1, "100%"},
		{1, 3, "33.33%"},
		{1, 8, "12.5%"},
		{1, 1_000_000, "<0.01%"},
		{999_999, 1_000_000, ">99.99%"},
		{1_000_000, 1_000_000, "100%"},
	}
	for _, tc := range tests {
		if got := text.Percent(tc.part, tc.whole); got != tc.want {
			t.Errorf("Percent(%d, %d) = %s, want %s", tc.part, tc.whole, got, tc.want)
		}
	}
}

func TestClockIsInUTC(t *testing.T) {
	at := time.Date(2026, 2, 3, 1, 4, 5, 6, time.FixedZone("", 3600))
	if got := text.Clock(at); got != "00:04:05 UTC" {
		t.Errorf("Clock(%v) = %s", at, got)
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int64]string{0: "0 steps", 1: "1 step", 2: "2 steps"} {
		if got := text.Plural(n, "step"); got != want {
			t.Errorf("Plural(%d) = %s, want %s", n, got, want)
		}
	}
}
