package vk

import "fmt"

// Code is what Vulkan's functions return: below 0 for an error.
type Code int32

// Codes that callers tell apart.
const (
	Success              Code = 0
	NotReady             Code = 1
	Timeout              Code = 2
	Incomplete           Code = 5
	OutOfHostMemory      Code = -1
	OutOfDeviceMemory    Code = -2
	InitializationFailed Code = -3
	DeviceLost           Code = -4
	ExtensionNotPresent  Code = -7
	FeatureNotPresent    Code = -8
	IncompatibleDriver   Code = -9
	TooManyObjects       Code = -10
	InvalidShader        Code = -1000012000
)

// names are those of vulkan_core.h without their prefix VK_.
var names = map[Code]string{
	1: "NOT_READY", 2: "TIMEOUT", 5: "INCOMPLETE",
	-1: "ERROR_OUT_OF_HOST_MEMORY", -2: "ERROR_OUT_OF_DEVICE_MEMORY", -3: "ERROR_INITIALIZATION_FAILED", -4: "ERROR_DEVICE_LOST",
	-5: "ERROR_MEMORY_MAP_FAILED", -6: "ERROR_LAYER_NOT_PRESENT", -7: "ERROR_EXTENSION_NOT_PRESENT", -8: "ERROR_FEATURE_NOT_PRESENT",
	-9: "ERROR_INCOMPATIBLE_DRIVER", -10: "ERROR_TOO_MANY_OBJECTS", -11: "ERROR_FORMAT_NOT_SUPPORTED", -12: "ERROR_FRAGMENTED_POOL",
	-13: "ERROR_UNKNOWN", -1000011001: "ERROR_VALIDATION_FAILED_EXT", -1000012000: "ERROR_INVALID_SHADER_NV",
	-1000069000: "ERROR_OUT_OF_POOL_MEMORY", -1000072003: "ERROR_INVALID_EXTERNAL_HANDLE", -1000161000: "ERROR_FRAGMENTATION",
	-1000174001: "ERROR_NOT_PERMITTED_KHR", -1000257000: "ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS", 1000297000: "PIPELINE_COMPILE_REQUIRED",
}

func (c Code) String() string {
	if name, ok := names[c]; ok {
		return "VK_" + name
	}
	return fmt.Sprintf("Vulkan error %d", int32(c))
}

// Error makes a Code a target of errors.Is.
func (c Code) Error() string { return c.String() }

// Error is a call that failed.
type Error struct {
	Call string // "vkCreateBuffer", and what it was about
	Code Code
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Call, e.Code) }

// Is makes errors.Is compare with a Code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// OutOfMemory tells whether there would be room if others gave theirs back.
func (e *Error) OutOfMemory() bool {
	return e.Code == OutOfDeviceMemory || e.Code == OutOfHostMemory || e.Code == TooManyObjects
}

// check is the error of a call that returned c. A device that is lost does
// nothing any more: it has to be opened anew.
func check(c Code, call string) error {
	switch {
	case c >= 0:
		return nil
	case c == DeviceLost:
		return fmt.Errorf("the device failed: %w", &Error{Call: call, Code: c})
	}
	return &Error{Call: call, Code: c}
}
