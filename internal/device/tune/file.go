package tune

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/sinterml/sinter/internal/loop"
)

// version is raised where strategies mean something else, or kernels are so
// different that what was measured says nothing any more.
const version = 1

// file is a store as JSON. Checksum is the SHA-256 of Content, without space.
type file struct {
	Version  int             `json:"version"`
	Checksum string          `json:"checksum"`
	Content  json.RawMessage `json:"content"`
}

func encode(c content) ([]byte, error) {
	inner, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return json.Marshal(file{version, sum(inner), inner})
}

// decode gives what a file has for a machine.
func decode(data []byte, m Machine) (content, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return content{}, fmt.Errorf("it is damaged: %w", err)
	}
	if f.Version != version {
		return content{}, fmt.Errorf("it is of version %d, and this program reads %d", f.Version, version)
	}
	var inner bytes.Buffer
	if err := json.Compact(&inner, f.Content); err != nil || sum(inner.Bytes()) != f.Checksum {
		return content{}, fmt.Errorf("it is damaged: its checksum is another")
	}
	var c content
	if err := json.Unmarshal(inner.Bytes(), &c); err != nil {
		return content{}, fmt.Errorf("it is damaged: %w", err)
	}
	if c.Machine != m {
		return content{}, fmt.Errorf("it is of another device or driver: %s, %s, and this is %s, %s", c.Machine.Device, c.Machine.Driver, m.Device, m.Driver)
	}
	return c, nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// fileName tells machines apart that differ in more than the driver, for people
// too.
func fileName(m Machine) string {
	readable := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, m.Device)
	const most = 40
	return fmt.Sprintf("%s-%s-%s.json", m.Kind, readable[:min(len(readable), most)], sum([]byte(m.Kind + "\n" + m.Device))[:8])
}

// Hash is the structure of a kernel: what it computes, for what sizes, but not
// its name. how tells ways to compute it apart that have tables of their own.
func Hash(how string, k *loop.Kernel) string {
	bare := *k
	bare.Name = ""
	return sum([]byte(how + "\n" + bare.String()))[:32]
}
