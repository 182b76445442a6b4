// Package page writes the facts about a program as one HTML file that needs no
// other: a browser draws the graph, kernels, memory, passes and the measured run
// from the document inside. It loads nothing, and its policy allows nothing but
// its own script and style.
package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/sinterml/sinter/internal/inspect"
)

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's script in order: later ones use what
// earlier ones declare, all in one module. A view comes behind what it draws with.
var scripts = []string{
	"dom.js", "format.js", "model.js", "layout.js", "app.js", "search.js", "drawing.js", "code.js",
	"overview.js", "details.js", "scene.js", "graph.js", "columns.js", "kernels.js", "memory.js", "passes.js", "timeline.js", "start.js",
}

var styles = []string{"page.css", "views.css"}

// parts are what every page shares.
type parts struct {
	style, body, script string
	policy              string
}

var shared = sync.OnceValues(func() (*parts, error) {
	var p parts
	var script strings.Builder
	for _, name := range scripts {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&script, "\n// %s\n\n%s", name, text)
	}
	p.script = script.String()
	for _, name := range styles {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		p.style += string(text)
	}
	body, err := assets.ReadFile("assets/page.html")
	if err != nil {
		return nil, err
	}
	p.body = string(body)
	p.policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", digest(p.script), digest(p.style))
	return &p, nil
})

// digest names a script or style to a Content-Security-Policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// titleLimit is where the title of the window is cut, in bytes.
const titleLimit = 200

// Write writes the page of a document.
func Write(w io.Writer, d *inspect.Document) error {
	p, err := shared()
	if err != nil {
		return err
	}
	// The encoder writes <, >, & and the line separators of Unicode as \u003c
	// and so on, in keys and values alike: nothing in the data can end its
	// element or begin a comment.
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", p.policy)
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n%s", html.EscapeString(printable(cmp.Or(d.Title, "graph"))), p.style, p.body)
	b.WriteString("<script type=\"application/json\" id=\"document\">")
	b.Write(data)
	fmt.Fprintf(&b, "</script>\n<script type=\"module\">%s</script>\n</body>\n</html>\n", p.script)
	_, err = w.Write(b.Bytes())
	return err
}

// printable is a title without controls and marks of direction, and cut.
func printable(title string) string {
	if len(title) > titleLimit {
		title = title[:titleLimit] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(title, "\uFFFD"))
}
