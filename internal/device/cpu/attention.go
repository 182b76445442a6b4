package cpu

import "github.com/sinterml/sinter/internal/template"

// compileAttention runs the template's loops: a sequence a task.
func compileAttention(c *compiler, t *template.Attention) (kernel, error) { return c.loops(t.Loops()) }
