// Package browser holds the viewer to what people see: it drives the real worker's pages in a
// headless Chromium, with a memory of made-up records, and takes their pictures.
//
// It is a module of its own, so that neither the product nor its go.sum knows the browser's
// driver: run it with "make viewer".
package browser
