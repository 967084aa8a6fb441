package outline

// AddFaultyLanguage adds the language faulty (files *.faulty), whose reader panics, and
// returns what takes it out again.
func AddFaultyLanguage() (remove func()) {
	languages[".faulty"] = "faulty"
	return func() { delete(languages, ".faulty") }
}
