package cutest

import "syscall"

// thread tells threads of the system apart.
func thread() int { return syscall.Gettid() }
