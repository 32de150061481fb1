package expect

// explained says of an expectation that does not hold why it does not, as far as that is
// known, and what of it was not measured. It is the one place for it.
var explained = map[string]string{
	"000-small-rungs-keep": "In four of five repetitions no write fails. In the other the connections are refused: V1 ended in the largest rung of the repetition before, and was not started again within the pause of 15 s. That it was Kubernetes that waited, longer after each end of the process, was seen in the events of a run before, and not looked up in this one.",
}
