package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long: `Man writes a manual page for each command into DIR, which it makes if need be:
sinter.1, sinter-search.1 and so on. With DIR below a folder of MANPATH, such as
~/.local/share/man/man1, 'man sinter-search' shows them.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("give the folder to write to")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writeManuals(cmd.Root(), args[0]) },
	}
}

// writeManuals writes a page for a command and for all below it.
func writeManuals(c *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	v := readVersion()
	header := &doc.GenManHeader{Section: "1", Source: "sinter " + v.Version, Manual: "Sinter Manual"}
	if date := v.date(); !date.IsZero() { // the same pages for the same commit
		header.Date = &date
	}
	return writeManual(c, header, dir)
}

func writeManual(c *cobra.Command, header *doc.GenManHeader, dir string) error {
	c.DisableAutoGenTag = true
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	page := *header
	page.Title = strings.ToUpper(name)
	file, err := os.Create(filepath.Join(dir, name+".1"))
	if err != nil {
		return err
	}
	err = doc.GenMan(c, &page, file)
	if e := file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("manual of %s: %w", c.CommandPath(), err)
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := writeManual(sub, header, dir); err != nil {
			return err
		}
	}
	return nil
}
