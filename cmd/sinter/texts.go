package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// A batch is given on once it holds so many texts or bytes, or once no more
// has arrived. That bounds memory, and a slow writer sees answers at once.
const (
	batchTexts = 256
	batchBytes = 256 << 10
	maxLine    = 16 << 20
)

// textSource is where a command's texts come from.
type textSource struct {
	args  []string // one text each; none: lines of input
	input io.Reader
	jsonl bool // each line is a JSON string
}

// line is one text, or the error that ends them.
type line struct {
	text string
	err  error
}

// batches calls f with texts in order, first is the number of texts before. f
// must not keep the slice.
func (s textSource) batches(ctx context.Context, f func(first int, texts []string) error) error {
	in := make(chan line, batchTexts)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(in)
		s.read(func(l line) bool {
			select {
			case in <- l:
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	for first := 0; ; {
		texts, more, err := nextBatch(ctx, in)
		if len(texts) > 0 {
			if err := f(first, texts); err != nil {
				return err
			}
		}
		if err != nil || !more {
			return err
		}
		first += len(texts)
	}
}

// nextBatch waits for one text and takes what else is there. Texts may come
// with an error: they stood before it.
func nextBatch(ctx context.Context, in <-chan line) (texts []string, more bool, err error) {
	size := 0
	for len(texts) < batchTexts && size < batchBytes {
		var l line
		var ok bool
		if len(texts) == 0 {
			select {
			case l, ok = <-in:
			case <-ctx.Done():
				return nil, false, ctx.Err()
			}
		} else {
			select {
			case l, ok = <-in:
			default:
				return texts, true, nil
			}
		}
		if !ok || l.err != nil {
			return texts, false, l.err
		}
		texts = append(texts, l.text)
		size += len(l.text)
	}
	return texts, true, nil
}

// read gives on texts until give is false.
func (s textSource) read(give func(line) bool) {
	for _, a := range s.args {
		if !give(line{text: a}) {
			return
		}
	}
	if len(s.args) > 0 {
		return
	}
	r := bufio.NewScanner(s.input)
	r.Buffer(nil, maxLine)
	number := 0
	for r.Scan() {
		number++
		text, err := s.parse(r.Bytes())
		if err != nil {
			give(line{err: fmt.Errorf("line %d: %w", number, err)})
			return
		}
		if !give(line{text: text}) {
			return
		}
	}
	switch err := r.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		give(line{err: fmt.Errorf("line %d is longer than %d bytes: split it", number+1, maxLine)})
	case err != nil:
		give(line{err: fmt.Errorf("reading texts: %w", err)})
	}
}

func (s textSource) parse(line []byte) (string, error) {
	if !s.jsonl {
		return string(line), nil
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '"' { // null would be taken for an empty text
		return "", errors.New("not a JSON string")
	}
	var text string
	if err := json.Unmarshal(line, &text); err != nil {
		return "", fmt.Errorf("not a JSON string: %w", err)
	}
	return text, nil
}

// source checks the arguments of a command that takes texts.
func (a *app) source(args []string, jsonl bool) (textSource, error) {
	if jsonl && len(args) > 0 {
		return textSource{}, usagef("--jsonl is about lines on standard input: give no texts as arguments with it")
	}
	if len(args) == 0 && isTerminal(a.stdin) && !a.settings.quiet {
		fmt.Fprintln(a.stderr, "Reading texts, one a line, up to the end of input.")
	}
	return textSource{args: args, input: a.stdin, jsonl: jsonl}, nil
}

// encodingWarning counts texts whose bytes are read in part as U+FFFD.
type encodingWarning struct{ texts, first int }

func (w *encodingWarning) look(index int, text string) {
	if utf8.ValidString(text) {
		return
	}
	if w.texts == 0 {
		w.first = index
	}
	w.texts++
}

func (a *app) warnEncoding(w encodingWarning) {
	if w.texts > 0 && !a.settings.quiet {
		fmt.Fprintf(a.stderr, "sinter: %d texts are not valid UTF-8, the first is text %d: what is not was read as U+FFFD\n", w.texts, w.first)
	}
}
