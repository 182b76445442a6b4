//go:build amd64 || arm64

package jit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapSealed is the path for systems that refuse to make anonymous memory
// executable.
func TestMapSealed(t *testing.T) {
	code := kernels[runtime.GOARCH]["load"].code()
	for _, size := range []int{len(code), 100_000} {
		mem, err := mapSealed(append(code[:len(code):len(code)], make([]byte, size-len(code))...))
		if err != nil {
			t.Fatal(err)
		}
		syncInstructions(mem)
		c := &Code{mem: mem, size: size}
		word := uintptr(7)
		args := loadArgs{address: uintptr(unsafe.Pointer(&word))}
		Call(c.Entry(0), unsafe.Pointer(&args))
		runtime.KeepAlive(&word)
		if args.result != 7 {
			t.Errorf("loaded %d", args.result)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The child processes below cannot take back what they forbid themselves.
const denyVar = "SINTER_JIT_TEST_DENY"

func TestMain(m *testing.M) {
	if deny := os.Getenv(denyVar); deny != "" {
		if err := denied(deny); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// denied maps code in a process that may not make memory executable and, for
// "all", may not open files either.
func denied(what string) error {
	if err := unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0); err != nil {
		return nil // before Linux 6.3: the parent looks at the output
	}
	if what == "all" {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{}); err != nil {
			return err
		}
	}
	fmt.Print("denied")
	code := kernels[runtime.GOARCH]["ret"].code()
	if _, err := mapAnonymous(code); err == nil {
		return errors.New("anonymous memory became executable")
	}
	c, err := Map(code)
	if what == "all" {
		if !errors.Is(err, ErrNoExec) || Available() {
			return fmt.Errorf("want ErrNoExec, got %v; Available is %v", err, Available())
		}
		return nil
	}
	if err != nil {
		return err
	}
	Call(c.Entry(0), nil)
	return c.Close()
}

func TestMemoryDenyWriteExecute(t *testing.T) {
	for _, deny := range []string{"anonymous", "all"} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), denyVar+"="+deny)
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("the test is emulated, its child would not be")
		}
		if err != nil {
			t.Errorf("%s: %v: %s", deny, err, out)
		} else if !bytes.HasPrefix(out, []byte("denied")) {
			t.Skip("this kernel has no PR_SET_MDWE")
		}
	}
}
