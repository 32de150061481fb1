package expect

// explained says of an expectation that does not hold why it does not, as far as that is
// known, and what of it was not measured. It is the one place for it.
var explained = map[string]string{
	"000-small-rungs-keep": "In four of five repetitions no write fails. In the other the connections are refused: V1 had ended in the largest rung of the repetition before, and its pod was still waiting to be restarted after the pause of 2 s. The rungs themselves are not what fails.",
}
