package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// variables are the environment variables that stand in for flags.
var variables = map[string]string{"device": envDevice, "threads": envThreads}

// origin is where the value of a flag comes from.
type origin uint8

const (
	fromDefault origin = iota
	fromFile
	fromEnvironment
	fromFlag
)

func (o origin) String() string {
	return [...]string{"default", "file", "environment", "flag"}[o]
}

// excluded are the settings of the file that are left alone where the command line
// has a flag, or one of that value, that they cannot be together with.
var excluded = map[string][]string{
	"context":            {"files-with-matches", "vimgrep"},
	"dedup":              {"npy", "png"},
	"dot":                {"html", "json", "profile", "stage"},
	"files":              {"context", "files-with-matches", "min-score", "rank", "rerank", "rerank-model", "top", "vimgrep"},
	"files-with-matches": {"context", "vimgrep"},
	"format=npy":         {"json"},
	"html":               {"dot", "json", "stage"},
	"index":              {"no-index"},
	"json":               {"dot", "format", "html", "npy", "null", "png", "vimgrep"},
	"net=transformer":    {"hidden"},
	"no-index":           {"index"},
	"npy":                {"dedup", "json"},
	"null":               {"json", "vimgrep"},
	"png":                {"dedup", "json"},
	"profile":            {"dot", "stage"},
	"stage":              {"dot", "html", "profile"},
	"vimgrep":            {"context", "files-with-matches", "json", "null"},
}

// excludedBy lists what the flags given exclude.
func excludedBy(given *pflag.FlagSet) (names []string) {
	given.Visit(func(f *pflag.Flag) {
		if f.Value.String() != "false" {
			names = append(append(names, excluded[f.Name]...), excluded[f.Name+"="+f.Value.String()]...)
		}
	})
	return names
}

// fillFlags gives the flags that were not on the command line the values of
// their variables, else of the configuration file. Afterwards they count as
// given.
func (a *app) fillFlags(cmd *cobra.Command) error {
	c, err := a.readConfig(cmd.Root())
	if err != nil {
		return err
	}
	a.config, a.origins = c, map[string]origin{}
	leave := excludedBy(cmd.Flags())
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case err != nil:
		case f.Changed:
			a.origins[f.Name] = fromFlag
		case variables[f.Name] != "" && a.env(variables[f.Name]) != "":
			a.origins[f.Name] = fromEnvironment
			err = a.fill(cmd, f, []string{a.env(variables[f.Name])})
		case slices.Contains(leave, f.Name):
		default:
			if texts, ok := c.of(cmd, f); ok {
				a.origins[f.Name] = fromFile
				err = a.fill(cmd, f, texts)
			}
		}
	})
	return err
}

// of is what the file says of a flag of cmd: its own, or one of a command
// above it.
func (c config) of(cmd *cobra.Command, f *pflag.Flag) ([]string, bool) {
	for cmd.HasParent() && cmd.LocalFlags().Lookup(f.Name) != f {
		cmd = cmd.Parent()
	}
	texts, ok := c.values[commandKey(cmd)][f.Name]
	return texts, ok
}

func (a *app) fill(cmd *cobra.Command, f *pflag.Flag, texts []string) error {
	for _, text := range texts {
		if err := cmd.Flags().Set(f.Name, text); err != nil {
			return usagef("%s: %q: use %s", a.said(f.Name), text, kindOf(f))
		}
	}
	return nil
}

// said is what a message calls a setting: the flag, the variable, or the key.
func (a *app) said(flag string) string {
	switch a.origins[flag] {
	case fromEnvironment:
		return variables[flag]
	case fromFile:
		return a.config.path + ": " + flag
	}
	return "--" + flag
}

// fileHint lists the settings of this command that the file gave: one of them
// may be what is wrong though it stands on no command line.
func (a *app) fileHint(err error) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(a.origins)) {
		if a.origins[name] == fromFile {
			names = append(names, name)
		}
	}
	if len(names) == 0 || strings.Contains(err.Error(), a.config.path) {
		return ""
	}
	return fmt.Sprintf("%s sets %s.\n", a.config.path, strings.Join(names, ", "))
}
