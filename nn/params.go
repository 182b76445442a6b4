package nn

import (
	"fmt"
	"path"
	"strings"

	"github.com/sinterml/sinter"
)

// Param is a variable of a net with its name there.
type Param struct {
	Name     string
	Variable *sinter.Variable
	State    bool // a running statistic or the like: saved, but not trained
}

// State lists everything that a net keeps, in the order of its fields. A
// variable that has several places has a name in each.
func State(net any) ([]Param, error) {
	var all []Param
	w := walker{visit: func(s slot) error {
		if *s.at != nil {
			all = append(all, Param{s.name, *s.at, s.state})
		}
		return nil
	}}
	if err := w.walk(net); err != nil {
		return nil, err
	}
	if all == nil {
		return nil, fmt.Errorf("nn: %T: %w", net, errNoWeights)
	}
	return all, nil
}

// Params lists the variables that are trained, in the order of the net's fields,
// each once. Of what is no net, or was not initialised, there are none.
func Params(net any) []*sinter.Variable {
	all, err := State(net)
	if err != nil {
		return nil
	}
	var params []*sinter.Variable
	seen := map[*sinter.Variable]bool{}
	for _, p := range all {
		if !p.State && !seen[p.Variable] {
			params, seen[p.Variable] = append(params, p.Variable), true
		}
	}
	return params
}

// Match parts variables by their names: those that one of the patterns fits, and
// the rest. In a pattern * stands for any text, ? for one character and [abc]
// for one of several. To freeze parameters, train the rest alone. A pattern
// that fits nothing is an error.
func Match(params []*sinter.Variable, patterns ...string) (matched, rest []*sinter.Variable, err error) {
	used := make([]bool, len(patterns))
	for _, v := range params {
		fits := false
		for i, pattern := range patterns {
			ok, err := glob(pattern, v.Name())
			if err != nil {
				return nil, nil, fmt.Errorf("nn: pattern %q: %w", pattern, err)
			}
			used[i] = used[i] || ok
			fits = fits || ok
		}
		if fits {
			matched = append(matched, v)
		} else {
			rest = append(rest, v)
		}
	}
	for i, ok := range used {
		if !ok {
			return nil, nil, fmt.Errorf("nn: pattern %q fits none of %d names", patterns[i], len(params))
		}
	}
	return matched, rest, nil
}

// glob is path.Match for names in which dots part what slashes part in paths,
// but where * goes across.
func glob(pattern, name string) (bool, error) {
	return path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
}
