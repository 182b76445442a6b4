package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
	"github.com/sinterml/sinter/hub"
	"github.com/sinterml/sinter/internal/device"
)

// What the shell offers where a value is to be typed. Values that are no
// closed list, such as models, come beside files.

// words completes to a fixed list.
func words(list func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

// completions are the lists, by command ("" for flags of all) and flag.
var completions = map[string]map[string]cobra.CompletionFunc{
	"": {
		"device": words(deviceNames),
		"dtype":  words(dtypeNames),
		"model":  completeModel,
	},
	"search": {
		"type":         words(textfiles.TypeNames),
		"type-not":     words(textfiles.TypeNames),
		"rank":         words(rankNames),
		"color":        words(func() []string { return whens }),
		"hyperlink":    words(func() []string { return whens }),
		"rerank-model": completeModel,
	},
	"embed":          {"format": words(func() []string { return []string{"jsonl", "npy"} })},
	"similarity":     {"png": files("png"), "npy": files("npy")},
	"graph":          {"stage": words(func() []string { return stageNames })},
	"bench":          {"isa": words(func() []string { return isas })},
	"train temporal": {"net": words(temporalNets), "objective": words(objectiveNames)},
}

// arguments are the lists for what is no flag.
var arguments = map[string]cobra.CompletionFunc{
	"embed":    cobra.NoFileCompletions, // texts
	"tokenize": cobra.NoFileCompletions,
	"version":  cobra.NoFileCompletions,
	"device":   cobra.NoFileCompletions,
	"search":   completeSearch,
	"graph":    completeModel,
	"man": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	},
	"config": func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		at := cmd.Root()
		if c, rest, err := at.Find(args); err == nil && len(rest) == 0 {
			at = c
		}
		var names []string
		for _, c := range at.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name()+"\t"+c.Short)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	},
}

// registerCompletions hangs the lists on a tree of commands. That those of the
// tables exist is tested.
func registerCompletions(root *cobra.Command) {
	for command, lists := range completions {
		c, _, err := root.Find(strings.Fields(command))
		if err != nil {
			continue
		}
		for name, list := range lists {
			_ = c.RegisterFlagCompletionFunc(name, list)
		}
	}
	for _, c := range root.Commands() {
		c.ValidArgsFunction = arguments[c.Name()]
	}
}

// deviceNames are those of kinds: the shell does not wait for drivers.
func deviceNames() []string {
	names := []string{"auto"}
	for _, d := range device.Registered() {
		names = append(names, d.Name)
	}
	return names
}

func rankNames() (names []string) {
	for _, m := range ranking.Methods {
		names = append(names, string(m))
	}
	return names
}

// completeModel offers the models of the hub cache and files.
func completeModel(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, name := range hub.Names() {
		if strings.HasPrefix(name, typed) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeSearch offers nothing for a query, then files.
func completeSearch(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if list, err := cmd.Flags().GetBool("files"); len(args) == 0 && (err != nil || !list) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// files offers those with an extension.
func files(extension string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{extension}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeCompletion has cobra's command for the scripts refuse what it cannot
// do, as others do.
func (a *app) completeCompletion(root *cobra.Command) {
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	c.Args = a.commandArgs
	c.RunE = func(*cobra.Command, []string) error { return usagef("give a shell: bash, fish, powershell or zsh") }
	for _, shell := range c.Commands() {
		shell.Args = noArgs
	}
}
