package tokens

// bytesPerToken is about what tokenizers make of English.
const bytesPerToken = 4

// Count is how many tokens a text has: one for every four bytes, and one for what is left.
func Count(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// vocabulary is what answers are made of.
var vocabulary = []string{" These", " words", " mean", " nothing", ";", " only", " their", " times", " count", "."}

// Token is the text of a token of an answer, from 0 on.
func Token(i int) string {
	if i == 0 {
		return vocabulary[0][1:]
	}
	return vocabulary[i%len(vocabulary)]
}
