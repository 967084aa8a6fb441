package mode

// LoadOrDefault returns a mode by name, or the built-in default one when it cannot
// be loaded; "" is the default one too.
func LoadOrDefault(name, dir string) Mode {
	if name != "" {
		if m, err := Load(name, dir); err == nil {
			return m
		}
	}
	m, _ := Load(Default, "") // the built-in one
	return m
}

// Vocabulary returns the types and the concepts that a mode has.
func (m Mode) Vocabulary() (types, concepts []string) {
	for _, t := range m.Types {
		types = append(types, string(t.ID))
	}
	return types, m.ConceptIDs()
}
