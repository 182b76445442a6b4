package vulkan

import (
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
)

// found asks the driver of a fake what it has.
func found(t *testing.T, a *vk.API) ([]device.Properties, error) {
	t.Helper()
	d := driver("fake", func() (*vk.Instance, error) { return a.NewInstance(vk.Options{}) })
	return d.List()
}

func TestDriver(t *testing.T) {
	all, err := found(t, (&vktest.Fake{}).API())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	p := all[0]
	features := strings.Join(p.Features, " ")
	if p.Description != "Fake GPU" || p.Vendor != "NVIDIA" || p.Driver != "fake 1.0" || p.Software || p.Memory != 1<<30 ||
		p.UUID != "01020300-0000-0000-0000-000000000000" || features != "vulkan 1.3 fp64 fp16 int8-dot subnormals subgroup-32" {
		t.Errorf("%+v", p)
	}
}

// TestMissing has reasons, and remedies, for drivers that are not there.
func TestMissing(t *testing.T) {
	noDriver := (&vktest.Fake{}).API()
	noDriver.CreateInstance = func(*vk.InstanceCreateInfo, *vk.InstanceID) vk.Code { return vk.IncompatibleDriver }
	deviceOf := func(change func(*vk.InstanceAPI)) *vk.API {
		a := (&vktest.Fake{}).API()
		plain := a.Instance
		a.Instance = func(id vk.InstanceID) (*vk.InstanceAPI, error) {
			i, err := plain(id)
			change(i)
			return i, err
		}
		return a
	}
	old := deviceOf(func(i *vk.InstanceAPI) {
		plain := i.GetProperties
		i.GetProperties = func(p vk.PhysicalID, out *vk.Properties2) { plain(p, out); out.API = 1<<22 | 1<<12 }
	})
	plain := deviceOf(func(i *vk.InstanceAPI) { i.GetFeatures = func(vk.PhysicalID, *vk.Features2) {} })
	for name, c := range map[string]struct {
		api  *vk.API
		want string
	}{
		"no driver":         {noDriver, "Vulkan's loader is here, but no driver of a device"},
		"no devices":        {(&vktest.Fake{NoDevices: true}).API(), "Vulkan's loader is here, but no driver of a device"},
		"an old loader":     {(&vktest.Fake{Version: 1<<22 | 1<<12}).API(), "the loader of Vulkan is of version 1.1.0, which is below 1.2"},
		"an old driver":     {old, "Fake GPU has a driver of a version below 1.2"},
		"without addresses": {plain, "Fake GPU has no memory by its address"},
	} {
		all, err := found(t, c.api)
		entry := device.Absent("vulkan", err)
		if len(all) > 0 || !strings.HasPrefix(entry.Reason, c.want) || entry.Remedy == "" {
			t.Errorf("%s: %v, %+v", name, all, entry)
		}
	}
}
