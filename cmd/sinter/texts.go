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

// maxLine bounds a line of input, and with it memory.
const maxLine = 16 << 20

// textSource is where a command's texts come from.
type textSource struct {
	args  []string // one text each; none: lines of input
	input io.Reader
	jsonl bool // each line is a JSON string
}

// size is how many texts there are, and their bytes, where that is known before
// they are read: of arguments.
func (s textSource) size() (texts, bytes int, known bool) {
	for _, a := range s.args {
		bytes += len(a)
	}
	return len(s.args), bytes, len(s.args) > 0
}

// batches calls f with texts in order, first is the number of texts before. f
// must not keep the slice.
func (s textSource) batches(ctx context.Context, f func(first int, texts []string) error) error {
	q := newTextQueue()
	defer q.stop()
	defer context.AfterFunc(ctx, q.stop)()
	go func() { q.end(s.read(q.put)) }()
	for first := 0; ; {
		texts, more, err := q.take()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(texts) > 0 {
			if err := f(first, texts); err != nil {
				return err
			}
		}
		if !more {
			return err
		}
		first += len(texts)
	}
}

// read gives texts on until give is false.
func (s textSource) read(give func(text string) bool) error {
	for _, a := range s.args {
		if !give(a) {
			return nil
		}
	}
	if len(s.args) > 0 {
		return nil
	}
	r := bufio.NewScanner(s.input)
	r.Buffer(nil, maxLine)
	number := 0
	for r.Scan() {
		number++
		data := r.Bytes()
		if number == 1 {
			data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark
		}
		text, err := s.parse(data)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if !give(text) {
			return nil
		}
	}
	switch err := r.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d is longer than %d MiB: split it", number+1, maxLine>>20)
	case err != nil:
		return fmt.Errorf("reading texts: %w", err)
	}
	return nil
}

func (s textSource) parse(line []byte) (string, error) {
	if !s.jsonl {
		return string(line), nil
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '"' { // null would be taken for an empty text
		return "", errors.New("not a JSON string")
	}
	if !utf8.Valid(line) { // which would be replaced, and nobody told
		return "", errors.New("not a JSON string: not valid UTF-8")
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
		fmt.Fprintf(a.stderr, "sinter: not valid UTF-8 in %s, the first is text %d: what is not was read as U+FFFD\n", count(w.texts, "text"), w.first)
	}
}
