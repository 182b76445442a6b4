//go:build !unix && !windows

package index

import (
	"errors"
	"os"
)

// tryLock cannot lock here, so there is no index.
func tryLock(*os.File, bool) error { return errors.ErrUnsupported }
