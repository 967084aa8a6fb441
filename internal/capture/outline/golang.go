package outline

import (
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
)

// golang reads Go with go/parser, which returns the declarations of broken code too, as far
// as it could parse them. The lexer's tokens serve the signatures and hashes. A function without
// a body, and a type in a function, is no symbol.
func (o *Outline) golang(src []byte) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", src, parser.SkipObjectResolution)
	o.Broken = err != nil
	if file == nil {
		return
	}
	x := newLexer("go", src)
	x.run(0)
	x.finish()
	w := &walker{lexer: x, grammar: grammars["go"], language: "go"}
	source := set.File(file.FileStart)
	at := func(pos token.Pos) int {
		offset := int32(source.Offset(pos))
		return sort.Search(len(x.tokens), func(i int) bool { return x.tokens[i].start >= offset })
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			s := span{outer: at(d.Pos()), body: at(d.Body.Lbrace), end: at(d.End())}
			s.start, s.sign = s.outer, s.outer
			if r := receiver(d); r != "" {
				w.add(r+"."+d.Name.Name, Method, s)
			} else {
				w.add(d.Name.Name, Func, s)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				pos := t.Pos()
				if !d.Lparen.IsValid() { // outside of a group the word "type" belongs to it
					pos = d.Pos()
				}
				s := span{outer: at(pos), end: at(t.End())}
				s.start, s.sign, s.body = s.outer, s.outer, s.end
				switch t := t.Type.(type) {
				case *ast.StructType:
					s.body = at(t.Fields.Opening)
				case *ast.InterfaceType:
					s.body = at(t.Methods.Opening)
				}
				w.add(t.Name.Name, Type, s)
			}
		}
	}
	w.hashes()
	o.Symbols = w.symbols
}

// receiver returns the name of the type that a method belongs to, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch u := t.(type) {
		case *ast.StarExpr:
			t = u.X
		case *ast.ParenExpr:
			t = u.X
		case *ast.IndexExpr:
			t = u.X
		case *ast.IndexListExpr:
			t = u.X
		case *ast.Ident:
			return u.Name
		default:
			return ""
		}
	}
}
