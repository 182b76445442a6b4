package model

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Names of the prompts that most models have, in the order of preference.
var (
	queryPrompts   = []string{"query"}
	passagePrompts = []string{"document", "passage", "corpus"}
)

// settings is config_sentence_transformers.json.
type settings struct {
	Prompts     map[string]string `json:"prompts"`
	Default     *string           `json:"default_prompt_name"`
	Similarity  *string           `json:"similarity_fn_name"`
	TruncateDim *int              `json:"truncate_dim"`
	Activation  *string           `json:"activation_fn"` // of a cross-encoder
}

const settingsFile = "config_sentence_transformers.json"

// readSettings reads prompts and what is said of vectors.
func (e *Encoder) readSettings(s *source) error {
	var c settings
	if _, err := s.config(settingsFile, &c); err != nil {
		return err
	}
	e.Prompts = map[string]string{}
	for name, text := range c.Prompts {
		if text != "" {
			e.Prompts[name] = text
		}
	}
	if len(e.Prompts) == 0 {
		e.Prompts = s.knownPrompts()
	}
	var err error
	if e.DefaultPrompt, err = c.defaultPrompt(s); err != nil {
		return err
	}
	if c.Similarity != nil {
		e.Similarity = *c.Similarity
	}
	if c.TruncateDim != nil {
		if err := e.Shorten(*c.TruncateDim); err != nil {
			return fmt.Errorf("model: %s: truncate_dim: %w", s.path(settingsFile), err)
		}
	}
	return nil
}

// defaultPrompt is the name of a prompt, "" where none is named.
func (c *settings) defaultPrompt(s *source) (string, error) {
	if c.Default == nil || *c.Default == "" {
		return "", nil
	}
	if _, ok := c.Prompts[*c.Default]; !ok {
		return "", fmt.Errorf("model: %s: default_prompt_name %.80q is not among the prompts", s.path(settingsFile), *c.Default)
	}
	return *c.Default, nil
}

// QueryPrompt is what stands before a text that others are searched for by;
// "" where the model has no such prompt.
func (e *Encoder) QueryPrompt() string { return e.firstPrompt(queryPrompts) }

// PassagePrompt is what stands before a text that is searched; "" where the
// model has no such prompt.
func (e *Encoder) PassagePrompt() string { return e.firstPrompt(passagePrompts) }

func (e *Encoder) firstPrompt(names []string) string {
	if e == nil {
		return ""
	}
	for _, n := range names {
		if p := e.Prompts[n]; p != "" {
			return p
		}
	}
	return ""
}

// PromptNames are the names of the model's prompts, sorted.
func (e *Encoder) PromptNames() []string {
	if e == nil {
		return nil
	}
	var names []string
	for n := range e.Prompts {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Families whose files do not name the prompts that they were trained with:
// they stand in the descriptions of the models alone.
var (
	e5Prompts  = map[string]string{"query": "query: ", "passage": "passage: "}
	bgePrompts = map[string]string{"query": "Represent this sentence for searching relevant passages: "}
)

var knownModels = map[string]map[string]string{
	"intfloat/e5-small": e5Prompts, "intfloat/e5-base": e5Prompts, "intfloat/e5-large": e5Prompts,
	"intfloat/e5-small-v2": e5Prompts, "intfloat/e5-base-v2": e5Prompts, "intfloat/e5-large-v2": e5Prompts,
	"intfloat/multilingual-e5-small": e5Prompts, "intfloat/multilingual-e5-base": e5Prompts, "intfloat/multilingual-e5-large": e5Prompts,
	"BAAI/bge-small-en": bgePrompts, "BAAI/bge-base-en": bgePrompts, "BAAI/bge-large-en": bgePrompts,
	"BAAI/bge-small-en-v1.5": bgePrompts, "BAAI/bge-base-en-v1.5": bgePrompts, "BAAI/bge-large-en-v1.5": bgePrompts,
	"mixedbread-ai/mxbai-embed-large-v1": bgePrompts,
	"nomic-ai/modernbert-embed-base": {
		"query": "search_query: ", "document": "search_document: ", "clustering": "clustering: ", "classification": "classification: ",
	},
}

// KnownPrompts are the prompts of a model whose files name none, by its folder:
// in the hub's cache, or one called as the model is. Most models have none.
func KnownPrompts(folder string) map[string]string {
	if folder == "" {
		return nil
	}
	if abs, err := filepath.Abs(folder); err == nil { // "." has a name too
		folder = abs
	}
	return promptsOf(folder)
}

// knownPrompts are those by the folder, or by the name of a file system.
func (s *source) knownPrompts() map[string]string {
	if s.dir == "" {
		return promptsOf(s.name)
	}
	return KnownPrompts(s.dir)
}

func promptsOf(folder string) map[string]string {
	folder = filepath.ToSlash(folder)
	for name, prompts := range knownModels {
		cached := "models--" + strings.ReplaceAll(name, "/", "--")
		if path.Base(folder) == path.Base(name) || slices.Contains(strings.Split(folder, "/"), cached) {
			all := map[string]string{}
			for k, v := range prompts {
				all[k] = v
			}
			return all
		}
	}
	return nil
}
