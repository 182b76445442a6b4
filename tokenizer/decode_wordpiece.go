package tokenizer

import "strings"

// wordPieceDecoder joins tokens with spaces, and continuations without.
type wordPieceDecoder struct {
	prefix  string
	cleanup bool // also take out the spaces that English does not want
}

func (d wordPieceDecoder) decode(tokens []string) string {
	var b strings.Builder
	for i, token := range tokens {
		if rest, ok := strings.CutPrefix(token, d.prefix); i > 0 && ok {
			token = rest
		} else if i > 0 {
			token = " " + token
		}
		if d.cleanup {
			token = cleanUp(token)
		}
		b.WriteString(token)
	}
	return b.String()
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

// plainDecoder serves files that name no decoder.
type plainDecoder struct{}

func (plainDecoder) decode(tokens []string) string { return strings.Join(tokens, " ") }
