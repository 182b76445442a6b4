package mtl

// systemText is what Metal is a part of, as the system tells it: "macOS 15.1
// (24B83)". What is not known is left out.
func systemText(sysctl func(name string) (string, error)) string {
	version, err := sysctl("kern.osproductversion")
	if err != nil || version == "" { // before macOS 10.13.4
		version = "of an unknown version"
	}
	text := "macOS " + version
	if build, err := sysctl("kern.osversion"); err == nil && build != "" {
		text += " (" + build + ")"
	}
	return text
}
