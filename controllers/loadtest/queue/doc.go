// Package queue decides which LoadTests may begin, and in which order the others wait.
//
//	LoadTests, limits ── Line ───▶ which may begin, and the place of each other and why
//	what was read     ── Ledger ─▶ the same, with what this process let begin since
//
// The order is that of priority, the higher first; then of the workers that a namespace has,
// the fewest first; then of when a run of the namespace began last, the longest ago first; then
// of creation, then of namespace and name. Three rules say who begins:
//
//   - A run whose namespace has as many runs or workers as it may have waits. Runs of other
//     namespaces behind it do not wait for it.
//   - When the cluster has as many runs as it may have, all wait.
//   - A run that needs more workers than are free waits, and all behind it wait as well:
//     each run that ends then brings it nearer, and smaller ones cannot pass it for ever.
//
// A run that has begun is never stopped for another.
//
// It is pure. It may import the standard library and apimachinery's types.
package queue
