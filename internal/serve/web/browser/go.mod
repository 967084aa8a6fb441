module claudemem/internal/serve/web/browser

go 1.26.8

require (
	claudemem v0.0.0
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace claudemem => ../../../..
