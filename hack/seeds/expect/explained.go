package expect

// explained says of an expectation that does not hold why it does not, where that is
// known and was verified. It is the one place for it.
var explained = map[string]string{}
