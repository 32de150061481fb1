// Package tokens is the domain of a stand-in for a server of a large language model: it
// answers with words that mean nothing, in the times in which such a server answers.
//
// A request has a number of prompt tokens, and asks for a number of tokens. It takes a slot,
// or waits in the queue, or is refused. All that have a slot are decoded together, in steps:
// each step gives each of them one token.
//
//	          Queue            Slots
//	Submit ─► waiting ──────► running ──► a token for each at the end of a step
//	   │        │ Begin: the oldest take the slots that are free
//	   ▼        ▼
//	ErrFull   Leave: a client went away; its place is free at once
//
// A step takes Step, and PerSequence for each sequence that has a slot, and PerPromptToken
// for each prompt token of those that took one at its beginning. So of requests with P prompt
// tokens that ask for N, a server that is full answers
//
//	1 / (P·PerPromptToken + N·(Step/Slots + PerSequence))
//
// a second (Parameters.Capacity): more than that fills the queue, however large it is.
//
// Engine is that rule, without a clock. Service carries it out in time, for requests that
// come from several goroutines. The package uses the standard library only; cmd/tokens joins
// it to what serves it:
//
//	     cmd/tokens
//	  ┌──────┴───────┐
//	http         prometheus
//	  └──────┬───────┘
//	       tokens
package tokens
