package tokenizer

import (
	"encoding/json"
	"slices"
	"testing"
)

// letters is a tokenizer.json whose tokens are characters, with what is given
// put in.
func letters(t *testing.T, stages map[string]string) *Tokenizer {
	t.Helper()
	vocab := map[string]int{"<unk>": 0}
	for _, c := range "a b³½\n-'\U00011935\U00011930\U00011938xA" {
		vocab[string(c)] = len(vocab)
	}
	file := map[string]any{"model": map[string]any{"type": "BPE", "unk_token": "<unk>", "vocab": vocab, "merges": []any{}}}
	for name, stage := range stages {
		file[name] = json.RawMessage(stage)
	}
	return parseFile(t, file)
}

// TestCorners holds what no published tokenizer does to the reference
// implementation.
func TestCorners(t *testing.T) {
	const twoTrims = `{"type":"Sequence","processors":[{"type":"ByteLevel","trim_offsets":true,"add_prefix_space":false},` +
		`{"type":"RobertaProcessing","sep":["a",1],"cls":["b",3],"trim_offsets":true,"add_prefix_space":false}]}`
	const taking = `{"id":13,"content":"A","rstrip":true}`
	for _, c := range []struct {
		about, part, stage string
		added              string
		text               string
		ids                []int32
		offsets            []int
	}{
		{about: "characters that compose since Unicode 13", part: "normalizer", stage: `{"type":"NFC"}`,
			text: "a\U00011935\U00011930b", ids: []int32{1, 9, 10, 3}, offsets: []int{0, 1, 1, 2, 2, 3, 3, 4}},
		{about: "characters that compose since Unicode 13", part: "normalizer", stage: `{"type":"NFKC"}`,
			text: "a\U00011935\U00011930b", ids: []int32{1, 9, 10, 3}, offsets: []int{0, 1, 1, 2, 2, 3, 3, 4}},
		{about: `\w in a negated set`, part: "pre_tokenizer", stage: removing(`[^\\w\\s]+`),
			text: "a³ b½-", ids: []int32{1, 2, 3}, offsets: []int{0, 1, 2, 3, 3, 4}},
		{about: `\w in a set`, part: "pre_tokenizer", stage: removing(`[\\w']+`),
			text: "a³ b½-'", ids: []int32{4, 2, 5, 7}, offsets: []int{1, 2, 2, 3, 4, 5, 5, 6}},
		{about: `\w in none`, part: "pre_tokenizer", stage: removing(`\\w+`),
			text: "a³ b½-'", ids: []int32{2, 7, 8}, offsets: []int{2, 3, 5, 6, 6, 7}},
		{about: "at most two", part: "pre_tokenizer", stage: removing(`a{,2}b`),
			text: "aab-ab-b-aaab", ids: []int32{7, 7, 7, 1}, offsets: []int{3, 4, 6, 7, 8, 9, 9, 10}},
		{about: "no repetition", part: "pre_tokenizer", stage: removing(`xa{,}`),
			text: "xaa-x", ids: []int32{12, 1, 1, 7, 12}, offsets: []int{0, 1, 1, 2, 2, 3, 3, 4, 4, 5}},
		{about: "a token of space that another took along", added: taking + `,{"id":2,"content":" ","lstrip":true}`,
			text: "aA b", ids: []int32{1, 13, 3}, offsets: []int{0, 1, 1, 3, 3, 4}},
		{about: "a token of space that another took along", added: taking + `,{"id":6,"content":"\n","lstrip":true,"rstrip":true}`,
			text: "A\n\nb", ids: []int32{13, 3}, offsets: []int{0, 3, 3, 4}},
		{about: "two trims", part: "post_processor", stage: twoTrims, added: taking,
			text: "xA bA   ", ids: []int32{3, 12, 13, 3, 13, 1}, offsets: []int{0, 0, 0, 1, 1, 1, 3, 4, 4, 4, 0, 0}},
		{about: "two trims of more than there is", part: "post_processor", stage: twoTrims, added: taking,
			text: "A   ", ids: []int32{3, 13, 1}, offsets: []int{0, 0, 0, 1, 0, 0}},
	} {
		stages := map[string]string{"added_tokens": "[" + c.added + "]"}
		if c.part != "" {
			stages[c.part] = c.stage
		}
		got := letters(t, stages).Encode(c.text)
		if offsets := flat(c.text, got.Offsets); !slices.Equal(got.IDs, c.ids) || !slices.Equal(offsets, c.offsets) {
			t.Errorf("%s, %+q:\nids  %v\nwant %v\noffsets %v\nwant    %v", c.about, c.text, got.IDs, c.ids, offsets, c.offsets)
		}
	}
}

// removing is a pre-tokenizer that leaves out what a pattern matches.
func removing(pattern string) string {
	return `{"type":"Split","behavior":"Removed","pattern":{"Regex":"` + pattern + `"}}`
}
