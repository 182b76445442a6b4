package vk

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Instance is a connection to the drivers of a system.
type Instance struct {
	api       *InstanceAPI
	id        InstanceID
	messenger MessengerID
	listener  uintptr
}

// Options of an instance. The zero value is what users have.
type Options struct {
	// Messages, if set, has the validation layer check every call and how what is
	// submitted is synchronised, and is called with what it finds wrong, in the
	// call at fault. It may be called from many threads.
	Messages func(text string)
}

// Versions of Vulkan.
const (
	Version12 = 1<<22 | 2<<12
	Version13 = 1<<22 | 3<<12
)

const (
	validationLayer        = "VK_LAYER_KHRONOS_validation"
	debugUtils             = "VK_EXT_debug_utils"
	validationFeatures     = "VK_EXT_validation_features"
	portabilityEnumeration = "VK_KHR_portability_enumeration"
	portabilitySubset      = "VK_KHR_portability_subset"
)

// ErrNoLayer says that validation was asked for, and its layer is not there.
var ErrNoLayer = errors.New("the validation layer of Vulkan is not installed: install vulkan-validationlayers")

// NewInstance opens the drivers.
func (a *API) NewInstance(o Options) (*Instance, error) {
	defer dynlib.KeepSignals()()
	version := new(uint32)
	if a.EnumerateInstanceVersion == nil || a.EnumerateInstanceVersion(version) != Success || *version < Version12 {
		return nil, fmt.Errorf("the loader of Vulkan is of version %s, which is below 1.2", versionText(max(*version, 1<<22)))
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	info := hold(&pin, InstanceCreateInfo{Header: Header{Type: typeInstanceCreateInfo}})
	info.Application = hold(&pin, ApplicationInfo{
		Header: Header{Type: typeApplicationInfo}, Name: text(&pin, "sinter"), Engine: text(&pin, "sinter"), API: Version13,
	})
	var extensions, layers []string
	if there, err := a.extensions(nil); err != nil {
		return nil, err
	} else if slices.Contains(there, portabilityEnumeration) {
		const enumeratePortability = 1
		extensions, info.Flags = append(extensions, portabilityEnumeration), enumeratePortability
	}
	i := &Instance{}
	if o.Messages != nil {
		if err := a.validating(); err != nil {
			return nil, err
		}
		i.listener = listeners.add(o.Messages)
		layers, extensions = append(layers, validationLayer), append(extensions, debugUtils, validationFeatures)
		info.Next = unsafe.Pointer(validation(&pin, messengerInfo(&pin, i.listener)))
	}
	info.LayerCount, info.Layers = uint32(len(layers)), texts(&pin, layers)
	info.ExtensionCount, info.Extensions = uint32(len(extensions)), texts(&pin, extensions)
	if err := i.create(a, info); err != nil {
		listeners.remove(i.listener)
		return nil, err
	}
	return i, nil
}

// create makes the instance, finds its functions and has it tell what goes on.
func (i *Instance) create(a *API, info *InstanceCreateInfo) error {
	id := new(InstanceID)
	if err := check(a.CreateInstance(info, id), "vkCreateInstance"); err != nil {
		return err
	}
	var err error
	if i.api, err = a.Instance(*id); err != nil {
		return err
	}
	i.id = *id
	if i.listener == 0 {
		return nil
	}
	if i.api.CreateMessenger == nil {
		i.api.DestroyInstance(i.id)
		return errors.New("vkCreateDebugUtilsMessengerEXT is missing")
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	m := new(MessengerID)
	err = check(i.api.CreateMessenger(i.id, messengerInfo(&pin, i.listener), m), "vkCreateDebugUtilsMessengerEXT")
	if err != nil {
		i.api.DestroyInstance(i.id)
	}
	i.messenger = *m
	return err
}

// Close ends an instance whose devices are closed.
func (i *Instance) Close() {
	if i.messenger != 0 {
		i.api.DestroyMessenger(i.id, i.messenger)
	}
	i.api.DestroyInstance(i.id)
	listeners.remove(i.listener)
}

// validating says whether the validation layer is there.
func (a *API) validating() error {
	layers, err := list("vkEnumerateInstanceLayerProperties", a.EnumerateInstanceLayers)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(layers, func(l LayerProperties) bool { return goText(l.Name[:]) == validationLayer }) {
		return ErrNoLayer
	}
	return nil
}

func (a *API) extensions(layer *byte) ([]string, error) {
	return extensionNames("vkEnumerateInstanceExtensionProperties", func(count *uint32, out *ExtensionProperties) Code {
		return a.EnumerateInstanceExtensions(layer, count, out)
	})
}

func extensionNames(call string, get func(count *uint32, out *ExtensionProperties) Code) ([]string, error) {
	all, err := list(call, get)
	names := make([]string, len(all))
	for i := range all {
		names[i] = goText(all[i].Name[:])
	}
	return names, err
}

// maxList is more than a system has of anything: a larger number is a broken
// driver's.
const maxList = 1 << 12

// list asks for a list of unknown length.
func list[T any](call string, get func(count *uint32, out *T) Code) ([]T, error) {
	n := new(uint32)
	if err := check(get(n, nil), call); err != nil || *n == 0 {
		return nil, err
	}
	if *n > maxList {
		return nil, fmt.Errorf("%s: the driver tells of %d", call, *n)
	}
	all := make([]T, *n)
	err := check(get(n, &all[0]), call)
	return all[:min(int(*n), len(all))], err
}

// hold puts a value where C can reach it until the pinner lets go.
func hold[T any](pin *runtime.Pinner, v T) *T {
	p := new(T)
	*p = v
	pin.Pin(p)
	return p
}

// text is s as C reads it.
func text(pin *runtime.Pinner, s string) *byte {
	p := dynlib.CString(s)
	pin.Pin(p)
	return p
}

func texts(pin *runtime.Pinner, all []string) **byte {
	if len(all) == 0 {
		return nil
	}
	ps := make([]*byte, len(all))
	for i, s := range all {
		ps[i] = text(pin, s)
	}
	pin.Pin(&ps[0])
	return &ps[0]
}

// goText is a text of C in an array.
func goText(b []byte) string {
	if i := slices.Index(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func versionText(v uint32) string { return fmt.Sprintf("%d.%d.%d", v>>22&0x7f, v>>12&0x3ff, v&0xfff) }

// messengerInfo asks for warnings and errors of the validation layer.
func messengerInfo(pin *runtime.Pinner, listener uintptr) *MessengerCreateInfo {
	const warningsAndErrors, validationAndPerformance = 0x100 | 0x1000, 2 | 4
	return hold(pin, MessengerCreateInfo{
		Header: Header{Type: typeMessengerCreateInfo}, Severity: warningsAndErrors, Kinds: validationAndPerformance, Callback: listen(), User: listener,
	})
}

// validation asks for checks of synchronisation beside the others.
func validation(pin *runtime.Pinner, next *MessengerCreateInfo) *ValidationFeatures {
	const synchronisation = 4
	return hold(pin, ValidationFeatures{
		Header: Header{Type: typeValidationFeatures, Next: unsafe.Pointer(next)}, EnabledCount: 1, Enabled: hold(pin, uint32(synchronisation)),
	})
}

// listeners are who gets the messages of which instance: callbacks of C are few
// and never freed, so there is one for all.
var listeners registry

type registry struct {
	mu   sync.Mutex
	last uintptr
	all  map[uintptr]func(string)
}

func (r *registry) add(f func(string)) uintptr {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[uintptr]func(string){}
	}
	r.last++
	r.all[r.last] = f
	return r.last
}

func (r *registry) remove(key uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, key)
}

func (r *registry) get(key uintptr) func(string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[key]
}

// listen is the callback. It returns 0: the call goes on.
var listen = sync.OnceValue(func() uintptr {
	return dynlib.Callback(func(severity, kinds uintptr, data *MessageData, user uintptr) uintptr {
		if f := listeners.get(user); f != nil {
			f(dynlib.GoString(data.IDName) + ": " + dynlib.GoString(data.Text))
		}
		return 0
	})
})
