package text

import "strings"

// MostAlike is the candidate with the fewest changes of a letter to a name, for "did you mean";
// "" if each needs more than a third of the name's letters.
func MostAlike(name string, candidates []string) string {
	best, least := "", len(name)/3+1
	for _, candidate := range candidates {
		if n := changes(strings.ToLower(name), strings.ToLower(candidate)); n < least || n == least && best == "" {
			best, least = candidate, n
		}
	}
	return best
}

// changes is the edit distance of two words in which two letters that changed places are
// one change (optimal string alignment).
func changes(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
