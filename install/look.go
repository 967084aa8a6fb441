package install

// Look is what the host's files say, for who only wants to know.
type Look struct {
	// Registered: the host knows our marketplace. Path is its directory.
	Registered bool   `json:"registered"`
	Path       string `json:"path,omitempty"`
	// Version of the plugin that is installed, "" for none, and whether it is enabled.
	Version string `json:"version,omitempty"`
	Enabled bool   `json:"enabled"`
	// PlainHooks are the hooks of ours in the user's settings.
	PlainHooks int     `json:"plain_hooks"`
	Others     []Other `json:"others"`
	NodeData   bool    `json:"node_data"`
	// Unfinished says that an install or uninstall was cut short.
	Unfinished bool `json:"unfinished"`
}

// Look reads the host's files; CodeInvalid when one is broken.
func (in *Installer) Look() (Look, error) {
	h, err := readHost(in.opts.ConfigDir)
	if err != nil {
		return Look{}, err
	}
	book, err := readManifest(in.backups)
	if err != nil {
		return Look{}, err
	}
	is := h.registration(in.hookPrograms())
	return Look{
		Registered: is.known != "", Path: is.known, Version: is.version, Enabled: is.enabled, PlainHooks: is.hooks,
		Others: h.others(), NodeData: nodeData(in.opts.DataDir), Unfinished: book != nil && book.State != installed,
	}, nil
}
