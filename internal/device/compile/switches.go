package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/rewrite"
	"github.com/sinterml/sinter/internal/schedule"
)

// CheckSwitches refuses names that switch nothing off, whatever a precision or a
// device has: the error lists those that do.
func CheckSwitches(names []string) error {
	known, rules := append([]string{"all"}, schedule.Switches...), map[string]bool{}
	needed := map[string]bool{}
	for _, p := range rewrite.Passes() {
		if p.Required {
			needed[p.Name] = true
			continue
		}
		known = append(known, p.Name)
		for _, r := range p.Rules {
			rules[r.Name] = true
		}
	}
	for _, n := range names {
		if needed[n] {
			return fmt.Errorf("pass %q cannot be left out: a precision asks for it", n)
		}
		if !slices.Contains(known, n) && !rules[n] {
			return fmt.Errorf("no pass %q: there are %s; a rule is named pass/rule", n, strings.Join(known, ", "))
		}
	}
	return nil
}

// RewriteSwitches are those of names that are none of the scheduler's.
func RewriteSwitches(names []string) []string {
	rewrites, _ := splitSwitches(names)
	return rewrites
}

// splitSwitches tells the scheduler's switches from the rewriter's.
func splitSwitches(names []string) (rewrites, schedules []string) {
	for _, n := range names {
		mine := slices.Contains(schedule.Switches, n)
		if mine || n == "all" {
			schedules = append(schedules, n)
		}
		if !mine {
			rewrites = append(rewrites, n)
		}
	}
	return rewrites, schedules
}
