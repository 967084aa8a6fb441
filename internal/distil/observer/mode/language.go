package mode

import "strings"

// Language is a language for the records that a model writes. Every mode is tested with
// each; any other name is passed on to the model as it is.
type Language struct {
	// Code is its BCP 47 code in lower case, Name its name in English, Own in itself.
	Code, Name, Own string
}

// Languages returns the tested languages, by their names.
func Languages() []Language { return languages[:] }

var languages = [...]Language{
	{"ar", "Arabic", "العربية"},
	{"bn", "Bengali", "বাংলা"},
	{"pt-br", "Brazilian Portuguese", "português do Brasil"},
	{"zh", "Chinese", "简体中文"},
	{"zh-tw", "Chinese (Traditional)", "繁體中文"},
	{"cs", "Czech", "čeština"},
	{"da", "Danish", "dansk"},
	{"nl", "Dutch", "Nederlands"},
	{"en", "English", "English"},
	{"fi", "Finnish", "suomi"},
	{"fr", "French", "français"},
	{"de", "German", "Deutsch"},
	{"el", "Greek", "ελληνικά"},
	{"he", "Hebrew", "עברית"},
	{"hi", "Hindi", "हिन्दी"},
	{"hu", "Hungarian", "magyar"},
	{"id", "Indonesian", "Bahasa Indonesia"},
	{"it", "Italian", "italiano"},
	{"ja", "Japanese", "日本語"},
	{"ko", "Korean", "한국어"},
	{"no", "Norwegian", "norsk"},
	{"pl", "Polish", "polski"},
	{"pt", "Portuguese", "português"},
	{"ro", "Romanian", "română"},
	{"ru", "Russian", "русский"},
	{"es", "Spanish", "español"},
	{"sv", "Swedish", "svenska"},
	{"th", "Thai", "ไทย"},
	{"tr", "Turkish", "Türkçe"},
	{"uk", "Ukrainian", "українська"},
	{"ur", "Urdu", "اردو"},
	{"vi", "Vietnamese", "Tiếng Việt"},
}

// languageName returns the name of the language that a setting means by name or code, in
// any letter case ("de", "pt_BR", "Deutsch"): the English name of a tested language; of
// another one the setting, on one line. "" for none.
func languageName(setting string) string {
	setting = oneLine(setting, maxLanguage)
	code := strings.ReplaceAll(setting, "_", "-")
	for _, l := range languages {
		if strings.EqualFold(code, l.Code) || strings.EqualFold(setting, l.Name) || strings.EqualFold(setting, l.Own) {
			return l.Name
		}
	}
	return setting
}
