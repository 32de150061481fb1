package writes

// FieldManager names the operator's writes.
const FieldManager = "loadtest-operator"

// MaxMessage bounds, in bytes, the words of the API server in a message of ours.
const MaxMessage = 512
