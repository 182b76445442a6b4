package embed

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sinterml/sinter/model"
)

// prompts are what stands before the texts of Encode, EncodeQuery and
// EncodePassage.
type prompts struct{ any, query, passage string }

func choosePrompts(m *model.Encoder, o Options) (prompts, error) {
	p := prompts{query: m.QueryPrompt(), passage: m.PassagePrompt()}
	switch {
	case o.Prompt != "" && o.PromptText != "":
		return p, errors.New("embed: Options.Prompt and Options.PromptText: give one")
	case o.Prompt != "":
		text, ok := m.Prompts[o.Prompt]
		if !ok && len(m.Prompts) == 0 {
			return p, fmt.Errorf("embed: there is no prompt %q: the model has none", o.Prompt)
		}
		if !ok {
			return p, fmt.Errorf("embed: there is no prompt %q: the model has %s", o.Prompt, strings.Join(m.PromptNames(), ", "))
		}
		p.any = text
	case o.PromptText != "":
		p.any = o.PromptText
	default:
		p.any = m.Prompts[m.DefaultPrompt]
	}
	if m.ExcludesPrompt() && p != (prompts{}) {
		return p, errors.New("embed: the model's pooling leaves prompts out (include_prompt is false), which is not supported")
	}
	return p, nil
}

// Prompt is what stands before each text of Encode, QueryPrompt and
// PassagePrompt what stands before those of EncodeQuery and EncodePassage.
func (e *Encoder) Prompt() string {
	if e.zero() {
		return ""
	}
	return e.prompts.any
}

// QueryPrompt is the prompt of EncodeQuery.
func (e *Encoder) QueryPrompt() string {
	if e.zero() {
		return ""
	}
	return e.prompts.query
}

// PassagePrompt is the prompt of EncodePassage.
func (e *Encoder) PassagePrompt() string {
	if e.zero() {
		return ""
	}
	return e.prompts.passage
}
