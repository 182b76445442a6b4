package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/inspect/page"
)

// hostile are texts that would end the element of the data, begin a comment, or
// break the line of a script, if they were written as they are.
var hostile = []string{
	"</script><script>alert(1)</script>", "<!--<script>", "]]>", "&lt;b&gt;", `"\u003c`, "a\u2028b\u2029c", "\x00\x01\x1b[31m", "\u202egnp.exe", "\xff\xfe", "'\"><img src=x onerror=alert(1)>",
}

func write(t *testing.T, d *inspect.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	dataElement = regexp.MustCompile(`(?s)<script type="application/json" id="document">(.*?)</script>`)
	element     = regexp.MustCompile(`(?i)<(/?)(script|style|title|!--)`)
	policyMeta  = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)
)

// TestHostileTexts: whatever stands in the data, the page has the elements of a
// page of nothing, in the same order, and its data is what went in.
func TestHostileTexts(t *testing.T) {
	bare := element.FindAllString(write(t, &inspect.Document{}), -1)
	for i, title := range hostile {
		names := hostile
		if i == 0 {
			names = append(slices.Clone(hostile), strings.Repeat("<script>", 1<<17))
		}
		d := &inspect.Document{Title: title, Missing: names, Strings: names, Run: &inspect.Run{Peaks: map[string]float64{}}}
		for _, s := range names {
			d.Leaves = append(d.Leaves, inspect.Leaf{Kind: s, Name: s})
			d.Run.Peaks[s] = 1
		}
		text := write(t, d)
		if got := element.FindAllString(text, -1); !slices.Equal(got, bare) {
			t.Errorf("title %q: elements %q, want %q", title, got, bare)
		}
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var got, want inspect.Document // what is no UTF-8 is replaced on the way
		if err := json.Unmarshal(written, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(dataElement.FindStringSubmatch(text)[1]), &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("title %q: the data is not what was written", title)
		}
		if strings.ContainsAny(text, "\x00\x01\x1b\u2028\u2029") {
			t.Errorf("title %q: control characters or separators of lines in the page", title)
		}
	}
}

// TestPolicy: the policy names the very script and style of the page, and allows
// nothing else.
func TestPolicy(t *testing.T) {
	text := write(t, &inspect.Document{})
	policy := policyMeta.FindStringSubmatch(text)[1]
	for _, e := range []struct{ directive, element string }{
		{"script-src", `(?s)<script type="module">(.*?)</script>`}, {"style-src", `(?s)<style>(.*?)</style>`},
	} {
		body := regexp.MustCompile(e.element).FindStringSubmatch(text)[1]
		sum := sha256.Sum256([]byte(body))
		if want := e.directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("policy %q", policy)
	}
}

// TestAssets: all of them are in the page, none asks for anything outside or
// reads text as markup, none is long.
func TestAssets(t *testing.T) {
	whole := write(t, &inspect.Document{})
	entries, err := os.ReadDir("assets")
	if err != nil || len(entries) < 20 {
		t.Fatal(len(entries), err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join("assets", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(whole, string(data)); n != 1 {
			t.Errorf("%s is in the page %d times", e.Name(), n)
		}
		text := strings.ReplaceAll(string(data), `"http://www.w3.org/2000/svg"`, "") // a name, not an address
		for _, bad := range []string{"http:", "https:", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(", "XMLHttpRequest", "import(", "url(", "@import"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", e.Name(), bad)
			}
		}
		if n := strings.Count(text, "\n"); n >= 500 {
			t.Errorf("%s has %d lines", e.Name(), n)
		}
	}
}

func TestSize(t *testing.T) {
	if n := len(write(t, &inspect.Document{})); n > 150_000 {
		t.Errorf("a page of nothing takes %d bytes", n)
	}
}

func TestWriteErrors(t *testing.T) {
	if err := page.Write(&bytes.Buffer{}, &inspect.Document{Run: &inspect.Run{Seconds: math.NaN()}}); err == nil {
		t.Error("a document that is no JSON was written")
	}
}
