package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// setting is a row of 'sinter config'.
type setting struct {
	Command string `json:"command"` // "" for all
	Name    string `json:"name"`
	Value   string `json:"value"`
	From    string `json:"from"` // default, file, environment or flag
}

type settingList struct {
	File     string    `json:"file"`
	Read     bool      `json:"read"`
	Settings []setting `json:"settings"`
}

func (a *app) configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config [COMMAND...]",
		Short: "Show the settings and where each comes from",
		Long: `Config prints the settings in effect: those of all commands, those of COMMAND,
and what the configuration file sets for others.

A flag goes before its environment variable, that before the configuration
file: config.toml in the folder sinter of the user's configuration folder
($XDG_CONFIG_HOME, ~/.config), or the file that $SINTER_CONFIG names. It is TOML; its keys are the
names of flags, those of one command in a table of its name:

  threads = 4
  [search]
  top = 20
  glob = ["!vendor/"]
  [bench.gemm]
  draw = 5

Settings that cannot be together with a flag of the command line are left alone.`,
		Example: `  sinter config
  sinter config search --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			of := cmd.Root()
			if len(args) > 0 {
				c, rest, err := cmd.Root().Find(args)
				if err != nil {
					return a.commandArgs(cmd.Root(), args)
				}
				if len(rest) > 0 {
					return usagef("%s has no command %q", c.CommandPath(), rest[0])
				}
				of = c
			}
			return a.printSettings(a.listSettings(cmd, of))
		},
	}
}

// listSettings lists the settings of all commands, as they are for cmd, then
// those of the command of, and what the file says of others.
func (a *app) listSettings(cmd, of *cobra.Command) settingList {
	root := cmd.Root()
	list := settingList{File: a.config.path, Read: a.config.path != "" && a.config.missing == nil}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		list.Settings = append(list.Settings, setting{"", f.Name, f.Value.String(), a.origins[f.Name].String()})
	})
	for _, name := range []string{envCPU, envNoOpt} {
		if v := a.env(name); v != "" {
			list.Settings = append(list.Settings, setting{"", name, v, fromEnvironment.String()})
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c != root {
			list.Settings = append(list.Settings, a.commandSettings(c, c == of)...)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return list
}

// commandSettings are the settings of one command alone: all, or those of the
// file.
func (a *app) commandSettings(c *cobra.Command, all bool) (list []setting) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !hasSetting(f) {
			return
		}
		row := setting{commandKey(c), f.Name, f.DefValue, fromDefault.String()}
		if texts, ok := a.config.of(c, f); ok {
			row.Value, row.From = strings.Join(texts, ", "), fromFile.String()
		} else if !all {
			return
		}
		list = append(list, row)
	})
	return list
}

func (a *app) printSettings(list settingList) error {
	if a.settings.json {
		return a.printJSON(list)
	}
	out := newLines(a.stdout)
	switch {
	case list.File == "":
		fmt.Fprintf(out, "No configuration file: there is no home folder, and %s is not set.\n\n", envConfig)
	case errors.Is(a.config.missing, fs.ErrNotExist):
		fmt.Fprintf(out, "Configuration file %s, which does not exist\n\n", list.File)
	case !list.Read:
		fmt.Fprintf(out, "Configuration file not read: %v\n\n", a.config.missing)
	default:
		fmt.Fprintf(out, "Configuration file %s\n\n", list.File)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tVALUE\tFROM")
	for _, s := range list.Settings {
		name, value := strings.TrimSpace(s.Command+" "+s.Name), printable(s.Value)
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, value, s.From)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return out.Flush()
}
