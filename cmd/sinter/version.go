package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// buildVersion says which program this is, as the Go toolchain recorded it.
type buildVersion struct {
	Version  string `json:"version"`            // of the module: a tag, a pseudo-version, or (devel)
	Revision string `json:"revision,omitempty"` // commit
	Time     string `json:"time,omitempty"`     // of the commit, RFC 3339
	Modified bool   `json:"modified"`           // the tree had changes that are in no commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Model    string `json:"model"` // the one in the binary
}

func readVersion() buildVersion {
	v := buildVersion{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Model: defaultModelName}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	return v.from(info)
}

func (v buildVersion) from(info *debug.BuildInfo) buildVersion {
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// date is when the commit was made; the zero time where that is not known.
func (v buildVersion) date() time.Time {
	t, err := time.Parse(time.RFC3339, v.Time)
	if err != nil {
		return time.Time{}
	}
	return t
}

func (v buildVersion) String() string {
	text := "sinter " + v.Version + "\n"
	if v.Revision != "" {
		text += "revision " + v.Revision
		if v.Time != "" {
			text += ", " + v.Time
		}
		if v.Modified {
			text += ", with changes"
		}
		text += "\n"
	}
	return text + v.Go + " " + v.Platform + "\nmodel " + v.Model + "\n"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print which sinter this is",
		Long:  `Version prints the version, the commit it was built from, and by which Go for which platform.`,
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if a.flags.json {
				return a.printJSON(v)
			}
			_, err := fmt.Fprint(a.stdout, v)
			return err
		},
	}
}
