package text

import "testing"

func TestLastNames(t *testing.T) {
	for s, want := range map[string]string{
		"":                                     "",
		"add lib/shop/coupon.ex with a schema": "add coupon with a schema",
		"fix src/main/java/com/acme/mail/SmtpSender.java:88:3, please":  "fix SmtpSender, please",
		"at C:\\src\\app\\Main.cs":                                      "at C:Main",
		"a changelog from src/main/java":                                "a changelog from java",
		"./gradlew and ../x/y.kt":                                       "./gradlew and y",
		"why is read/write slow, and TCP/IP":                            "why is read/write slow, and TCP/IP",
		"GET /api/users/profile is 500":                                 "GET /api/users/profile is 500",
		"see https://example.com/a/b.html":                              "see https://example.com/a/b.html",
		"/home/dev/shop/money.go":                                       "money",
		"test/index_test.go:12":                                         "index_test",
		"java.lang.NullPointerException at com.acme.pdf.Writer.flush()": "NullPointerException at Writer.flush()",
		"opts.confirmSubmit of fmt.Println, v1.2.3":                     "opts.confirmSubmit of fmt.Println, v1.2.3",
		"App\\Jobs\\SendMail":                                           "SendMail",
		"größe/maß.go":                                                  "größe/maß.go",
	} {
		if got := LastNames(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
