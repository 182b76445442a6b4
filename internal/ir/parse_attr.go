package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// parseAttr reads what Attr.Append prints; the fields that are printed as the
// node's type come from t.
func (p *parser) parseAttr(op Op, s string, t Type) (Attr, error) {
	var a Attr
	uses := op.attrs()
	if uses&useDType != 0 {
		a.DType = t.DType
	}
	if uses&useShape != 0 {
		a.Shape = t.Shape
	}
	if op == Conv {
		a.Conv = &ConvAttr{}
	}
	if op == Attention || op == AttentionGrad {
		a.Attention = &AttentionAttr{}
	}
	for s != "" {
		var key, value string
		key, value, s = cutAttr(s)
		ok, err := p.setAttr(&a, key, value)
		if err != nil {
			return a, fmt.Errorf("attribute %s: %w", key, err)
		}
		if !ok {
			return a, fmt.Errorf("unknown attribute %q", key)
		}
	}
	return a, nil
}

// cutAttr splits off the first attribute: a word, or name=value where the
// value may be a list in brackets.
func cutAttr(s string) (key, value, rest string) {
	end := strings.IndexByte(s, ' ')
	if eq := strings.IndexByte(s, '='); eq >= 0 && (end < 0 || eq < end) && strings.HasPrefix(s[eq:], "=[") {
		if closing := strings.IndexByte(s, ']'); closing >= 0 {
			end = closing + 1
		}
	}
	if end < 0 {
		end = len(s)
	}
	key, value, _ = strings.Cut(s[:end], "=")
	return key, value, strings.TrimLeft(s[end:], " ")
}

// setAttr sets one field; ok is false where there is none of that name.
func (p *parser) setAttr(a *Attr, key, value string) (ok bool, err error) {
	switch key {
	case "axes":
		a.Axes, err = parseInts(value)
	case "steps":
		a.Steps, err = parseInts(value)
	case "starts":
		err = p.parseDims(&a.Starts, value)
	case "before":
		err = p.parseDims(&a.Before, value)
	case "after":
		err = p.parseDims(&a.After, value)
	case "value":
		a.Value, err = strconv.ParseUint(value, 0, 64)
	case "mode":
		a.Mode, err = strconv.Unquote(value)
	case "leaf":
		a.Leaf, err = strconv.Atoi(value)
	case "out":
		a.Out, err = strconv.Atoi(value)
	case "size":
		a.Size, err = strconv.Atoi(value)
	case "stride":
		a.Stride, err = strconv.Atoi(value)
	case "dilation":
		a.Dilation, err = strconv.Atoi(value)
	case "region":
		a.Region, err = strconv.Atoi(value)
	case "descending":
		a.Descending = true
	case "tf32":
		a.TF32 = true
	default:
		if a.Conv != nil {
			return setConv(a.Conv, key, value)
		}
		if a.Attention != nil {
			return setAttention(a.Attention, key, value)
		}
		return false, nil
	}
	return true, err
}

func setConv(c *ConvAttr, key, value string) (ok bool, err error) {
	switch key {
	case "strides":
		c.Stride, err = parseInts(value)
	case "dilations":
		c.Dilation, err = parseInts(value)
	case "padbefore":
		c.Before, err = parseInts(value)
	case "padafter":
		c.After, err = parseInts(value)
	case "groups":
		c.Groups, err = strconv.Atoi(value)
	default:
		return false, nil
	}
	return true, err
}

func setAttention(t *AttentionAttr, key, value string) (ok bool, err error) {
	switch key {
	case "scale":
		t.Scale, err = strconv.ParseFloat(value, 64)
	case "softcap":
		t.SoftCap, err = strconv.ParseFloat(value, 64)
	case "window":
		t.Window, err = strconv.Atoi(value)
	case "causal":
		t.Causal = true
	case "ragged":
		t.Ragged = true
	case "mask":
		t.Mask = true
	default:
		return false, nil
	}
	return true, err
}

func (p *parser) parseDims(d *[]Dim, s string) error {
	shape, err := p.parseShape(s)
	*d = shape
	return err
}

// parseInts reads [1 -2 3]; an empty list is not nil, as it was printed.
func parseInts(s string) ([]int, error) {
	f, err := listFields(s)
	if err != nil {
		return nil, err
	}
	v := make([]int, len(f))
	for i, w := range f {
		if v[i], err = strconv.Atoi(w); err != nil {
			return nil, err
		}
	}
	return v, nil
}
