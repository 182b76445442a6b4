package tokenizer

import (
	"encoding/json"
	"strings"
)

// wordPieceDecoder joins tokens with spaces, and continuations without.
type wordPieceDecoder struct {
	prefix  string
	cleanup bool // also take out the spaces that English does not want
}

func parseWordPieceDecoder(raw []byte) (decoder, error) {
	file := struct {
		Prefix  string `json:"prefix"`
		Cleanup bool   `json:"cleanup"`
	}{"##", true}
	err := json.Unmarshal(raw, &file)
	return wordPieceDecoder{file.Prefix, file.Cleanup}, err
}

func (d wordPieceDecoder) decode(tokens []string) []string {
	for i, token := range tokens {
		if rest, ok := strings.CutPrefix(token, d.prefix); i > 0 && ok {
			token = rest
		} else if i > 0 {
			token = " " + token
		}
		if d.cleanup {
			token = cleanUp(token)
		}
		tokens[i] = token
	}
	return tokens
}

// cleanUp undoes what splitting did to punctuation and contractions. Each
// replacement works on the result of those before.
func cleanUp(s string) string {
	for _, r := range [][2]string{
		{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
	} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	return s
}
