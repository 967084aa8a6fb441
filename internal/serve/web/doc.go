// Package web is the viewer: pages on which people read, search and correct their memory.
// The worker serves it beside the API, behind the same guard (package httpapi).
//
// Its nouns: a [Viewer] serves pages and files; a page is a row of the table pages; a visit
// is one request for it; a view is what the page shows. Pages read through [api.Memory] and
// parse their parameters with api.Parse, so that a page and its JSON, which the footer links,
// never differ. The whole state of a page is in its URL.
//
// Guarantees:
//
//   - Text of records is shown as text: html/template escapes it, show.go cuts it, leaves out
//     invisible characters and isolates its direction. Its Markdown is parsed by text.Blocks and shown
//     by the template "prose"; nothing in it becomes an element that is not there.
//   - A page loads nothing from elsewhere, and has no inline script or style; the
//     Content-Security-Policy refuses both.
//   - A page works without JavaScript for reading; scripts replace parts of it by fragments
//     that the server renders from the same templates.
//
// To add a page NAME:
//
//  1. NAME.go with its load function, which takes a *visit and returns a view.
//  2. templates/NAME.html with {{define "main"}}; with {{define "fragment"}} too if a script
//     reloads a part of it (?fragment=1). Parts that pages share are in templates/parts.html.
//  3. A row in the table pages (viewer.go); Nav names it in the navigation, Key is its letter
//     after "g".
//
// Styles are classes of static/app.css, scripts are modules in static/, which a page names in
// its field Script. A page that writes calls the API's route by static/api.js.
package web
