//go:build js || wasip1

package index

import "errors"

// tx does not exist here: bbolt needs files that are mapped and locked.
type tx struct{ damaged int }

func view(string, func(*tx) error) error     { return errors.ErrUnsupported }
func update(string, func(*tx) error) error   { return errors.ErrUnsupported }
func createDB(string, func(*tx) error) error { return errors.ErrUnsupported }
func checkFile(string) error                 { return errors.ErrUnsupported }

func (t *tx) get(string, []byte) ([]byte, bool)                { return nil, false }
func (t *tx) put(string, []byte, []byte) error                 { return errors.ErrUnsupported }
func (t *tx) remove(string, []byte) error                      { return errors.ErrUnsupported }
func (t *tx) each(string, func(key, value []byte) error) error { return errors.ErrUnsupported }
