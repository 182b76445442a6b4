package report

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sinterml/sinter/train"
)

// TensorBoard writes scalars to a file that TensorBoard reads, in TensorFlow's
// format: records of a length, its checksum, an Event in protocol buffers, and
// the checksum of that.
type TensorBoard struct {
	file *os.File
	now  func() time.Time
}

// NewTensorBoard makes a file of events in a folder, which is made where it is
// missing. Close it.
func NewTensorBoard(dir string) (*TensorBoard, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("report: making the folder for TensorBoard: %w", err)
	}
	name := fmt.Sprintf("events.out.tfevents.%d.sinter.%d", time.Now().UnixNano(), os.Getpid())
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	t := &TensorBoard{f, time.Now}
	if err := t.write(appendBytes(nil, eventVersion, []byte("brain.Event:2"))); err != nil {
		_ = f.Close()
		return nil, err
	}
	return t, nil
}

// Add writes the loss, the learning rate and the metrics of a step, or the
// scores of an evaluation, each at its step.
func (t *TensorBoard) Add(e train.Event) error {
	var summary []byte
	add := func(tag string, v float64) { summary = appendBytes(summary, summaryValue, scalar(tag, v)) }
	if e.EpochEnd {
		add("train/epoch_loss", e.Loss)
	} else {
		add("train/loss", e.Loss)
		add("train/learning_rate", e.Rate)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Metrics)) {
		add("train/"+name, e.Metrics[name])
	}
	scores := e.Scores.Values()
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		add("evaluation/"+name, scores[name])
	}
	event := appendVarint(nil, eventStep, uint64(e.Step))
	return t.write(appendBytes(event, eventSummary, summary))
}

// Close ends the file.
func (t *TensorBoard) Close() error {
	if t == nil || t.file == nil {
		return fmt.Errorf("report: the zero TensorBoard writes nothing: make one with NewTensorBoard")
	}
	return t.file.Close()
}

// Field numbers of tensorflow/core/util/event.proto and summary.proto.
const (
	eventTime    = 1
	eventStep    = 2
	eventVersion = 3
	eventSummary = 5
	summaryValue = 1
	valueTag     = 1
	valueSimple  = 2
)

// scalar is a Summary.Value.
func scalar(tag string, v float64) []byte {
	b := appendBytes(nil, valueTag, []byte(tag))
	b = append(b, valueSimple<<3|fixed32)
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
}

// Wire types of protocol buffers.
const (
	varint  = 0
	fixed64 = 1
	length  = 2
	fixed32 = 5
)

func appendVarint(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(append(b, byte(field<<3|varint)), v)
}

func appendBytes(b []byte, field int, data []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(field<<3|length)), uint64(len(data)))
	return append(b, data...)
}

// write puts the time before an event, and the event into a record.
func (t *TensorBoard) write(rest []byte) error {
	if t == nil || t.file == nil {
		return fmt.Errorf("report: the zero TensorBoard writes nothing: make one with NewTensorBoard")
	}
	seconds := float64(t.now().UnixMicro()) / 1e6
	event := binary.LittleEndian.AppendUint64([]byte{eventTime<<3 | fixed64}, math.Float64bits(seconds))
	if _, err := t.file.Write(record(append(event, rest...))); err != nil {
		return fmt.Errorf("report: writing for TensorBoard: %w", err)
	}
	return nil
}

// record frames data as TFRecord does.
func record(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, masked(data))
}

// masked is a CRC-32C turned and shifted, so that a checksum of data that has
// checksums in it is of use (TensorFlow's crc32c.h).
func masked(data []byte) uint32 {
	crc := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return (crc>>15 | crc<<17) + 0xa282ead8
}
