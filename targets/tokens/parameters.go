package tokens

import (
	"errors"
	"fmt"
	"time"
)

// Parameters are what the times of a server follow from.
type Parameters struct {
	// Slots is how many sequences are decoded together: 1 to MaxSlots.
	Slots int
	// Queue is how many requests may wait for a slot: 0 to MaxQueue.
	Queue int
	// Context is how many tokens a prompt and its answer may have together: 2 to MaxContext.
	Context int
	// PerPromptToken is what a step takes longer for each prompt token of a sequence that
	// took its slot at the beginning of the step.
	PerPromptToken time.Duration
	// Step is what a step takes, and PerSequence what it takes longer for each sequence.
	Step        time.Duration
	PerSequence time.Duration
}

const (
	// MaxSlots is far above what a server of one accelerator has.
	MaxSlots = 1024
	// MaxQueue bounds memory: what waits is one connection each.
	MaxQueue = 100_000
	// MaxContext is that of the models with the longest.
	MaxContext = 1 << 20
	// maxTime bounds each time of the parameters.
	maxTime = time.Minute
)

// Default is a small model on one accelerator, in round numbers.
func Default() Parameters {
	return Parameters{
		Slots: 8, Queue: 64, Context: 8192,
		PerPromptToken: 200 * time.Microsecond, Step: 10 * time.Millisecond, PerSequence: time.Millisecond,
	}
}

// Validate reports everything that is wrong.
func (p Parameters) Validate() error {
	return errors.Join(
		between("slots", p.Slots, 1, MaxSlots),
		between("queue", p.Queue, 0, MaxQueue),
		between("context", p.Context, 2, MaxContext),
		lasts("per-prompt-token", p.PerPromptToken, 0),
		lasts("step", p.Step, 1),
		lasts("per-sequence", p.PerSequence, 0),
	)
}

func between(name string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%s is %d: use %d to %d", name, n, least, most)
	}
	return nil
}

func lasts(name string, d, least time.Duration) error {
	if d < least || d > maxTime {
		return fmt.Errorf("%s is %v: use %v to %v", name, d, least, maxTime)
	}
	return nil
}

// step is what a step takes with so many sequences, of which those that took their slots at
// its beginning have so many prompt tokens.
func (p Parameters) step(sequences, prompt int) time.Duration {
	return p.Step + time.Duration(sequences)*p.PerSequence + time.Duration(prompt)*p.PerPromptToken
}

// Capacity is how many requests a second are answered at most, with so many prompt tokens
// and tokens each.
func (p Parameters) Capacity(prompt, tokens int) float64 {
	all := p.Slots * prompt // of a batch
	batch := p.step(p.Slots, all) + time.Duration(tokens-1)*p.step(p.Slots, 0)
	return float64(p.Slots) / batch.Seconds()
}
