package words

import "unicode"

// plain maps lower-case letters to what people type instead of them: the letter
// without its marks, as Unicode's compatibility decompositions have it, and the
// usual transcription of letters that have none (ß, ø, þ, ł).
var plain = foldTable([]struct{ to, from string }{
	{"a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"},
	{"ae", "æǣǽ"},
	{"b", "ƀḃḅḇ"},
	{"c", "çćĉċčƈȼḉ"},
	{"d", "ðďđḋḍḏḑḓ"},
	{"dz", "ǆǳ"},
	{"e", "èéêëēĕėęěȅȇȩɇḕḗḙḛḝẹẻẽếềểễệ"},
	{"f", "ƒḟ"},
	{"g", "ĝğġģǥǧǵḡ"},
	{"h", "ĥħȟḣḥḧḩḫẖ"},
	{"i", "ìíîïĩīĭįıǐȉȋḭḯỉị"},
	{"ij", "ĳ"},
	{"j", "ĵǰɉ"},
	{"k", "ķĸƙǩḱḳḵ"},
	{"l", "ĺļľłḷḹḻḽ"},
	{"lj", "ǉ"},
	{"m", "ḿṁṃ"},
	{"n", "ñńņňŋǹṅṇṉṋ"},
	{"nj", "ǌ"},
	{"o", "òóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"},
	{"oe", "œ"},
	{"p", "ƥṕṗ"},
	{"r", "ŕŗřȑȓɍṙṛṝṟ"},
	{"s", "śŝşšſșṡṣṥṧṩẛẜẝ"},
	{"ss", "ß"},
	{"t", "ţťŧƭțṫṭṯṱẗ"},
	{"th", "þ"},
	{"u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"},
	{"v", "ṽṿ"},
	{"w", "ŵẁẃẅẇẉẘ"},
	{"x", "ẋẍ"},
	{"y", "ýÿŷƴȳɏẏẙỳỵỷỹ"},
	{"z", "źżžƶȥẑẓẕ"},
	{"ʒ", "ǯ"},
	{"α", "άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ"},
	{"β", "ϐ"},
	{"ε", "έϵἐἑἒἓἔἕὲέ"},
	{"η", "ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ"},
	{"θ", "ϑ"},
	{"ι", "ΐίϊἰἱἲἳἴἵἶἷὶίιῐῑῒΐῖῗ"},
	{"κ", "ϰ"},
	{"ο", "όὀὁὂὃὄὅὸό"},
	{"π", "ϖ"},
	{"ρ", "ϱῤῥ"},
	{"σ", "ς"},
	{"υ", "ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ"},
	{"φ", "ϕ"},
	{"ω", "ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ"},
	{"е", "ё"},
	{"a", "ẚ"},
	{"n", "ŉ"},
	{"σ", "ϲ"},
	{"и", "йѝ"},
	{"і", "ї"},
})

// foldTable returns a map from each rune in the from of a row to the row's to.
func foldTable(rows []struct{ to, from string }) map[rune]string {
	m := make(map[rune]string, 512)
	for _, row := range rows {
		for _, r := range row.from {
			m[r] = row.to
		}
	}
	return m
}

// ignored reports whether r stands inside words without being part of them:
// accents of their own, hints where to break or join, and the choice of a glyph.
func ignored(r rune) bool {
	switch r {
	case '\u00ad', '\u200c', '\u200d', '\ufeff':
		return true
	}
	return unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r)
}

// pairScripts are written without spaces between words, so that only overlapping
// pairs of characters can be looked up without a dictionary.
var pairScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Yi,
}

// paired reports whether r is searched in pairs with its neighbours.
func paired(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return true
	case r == 'ー', r == 'ｰ', r == '々', r == '〆':
		return true
	}
	if !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return false
	}
	return unicode.In(r, pairScripts...)
}
