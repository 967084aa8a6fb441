// Prints the functions of the JavaScript and TypeScript files that standard input names,
// as the TypeScript compiler parses them; the form is that of python.py. README.md says
// which functions count and how they are named.
const ts = require('typescript');
const fs = require('fs');

const isFunction = (e) => e && (ts.isArrowFunction(e) || ts.isFunctionExpression(e));
const isAccessor = (n) => ts.isGetAccessor(n) || ts.isSetAccessor(n);
const qualified = (owner, name) => (owner ? owner + '.' + name : name);
const nameOf = (n) => (!n ? 'default' : ts.isStringLiteral(n) || ts.isNumericLiteral(n) ? n.text : n.getText());
const groups = ['describe', 'suite', 'context'];

function functionsOf(source) {
  const found = [];
  const line = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const add = (name, from, to = from) => found.push([name, line(from.getStart()), line(to.getEnd())]);

  // value reads an expression that gets a name; the declaration goes from one node to another.
  function value(e, name, from, to = from) {
    while (ts.isAsExpression(e) || ts.isSatisfiesExpression(e)) e = e.expression;
    const own = name === 'default' && e.name ? e.name.text : name;
    if (isFunction(e)) add(own, from, to);
    else if (ts.isClassExpression(e)) members(e, own);
    else if (ts.isObjectLiteralExpression(e)) properties(e, name === 'default' ? '' : name);
  }
  function properties(object, owner) {
    for (const p of object.properties) {
      if (ts.isMethodDeclaration(p) || isAccessor(p)) add(qualified(owner, nameOf(p.name)), p);
      else if (ts.isPropertyAssignment(p)) value(p.initializer, qualified(owner, nameOf(p.name)), p);
    }
  }
  function members(type, owner) {
    for (const m of type.members) {
      if ((ts.isMethodDeclaration(m) || isAccessor(m)) && m.body) add(qualified(owner, nameOf(m.name)), m);
      else if (ts.isConstructorDeclaration(m) && m.body) add(qualified(owner, 'constructor'), m);
      else if (ts.isPropertyDeclaration(m) && m.initializer) value(m.initializer, qualified(owner, nameOf(m.name)), m);
    }
  }
  function namespace(declaration, owner) {
    let name = nameOf(declaration.name).replace(/^["']|["']$/g, '');
    while (declaration.body && ts.isModuleDeclaration(declaration.body)) {
      declaration = declaration.body;
      name += '.' + declaration.name.text;
    }
    if (declaration.body) statements(declaration.body.statements, qualified(owner, name));
  }
  // variables: the first of a list begins with its "const", a single one ends with its ";".
  function variables(statement, owner) {
    const list = statement.declarationList.declarations;
    list.forEach((d, i) => {
      if (!d.initializer || !ts.isIdentifier(d.name)) return;
      value(d.initializer, qualified(owner, d.name.text), i === 0 ? statement : d, list.length === 1 ? statement : d);
    });
  }
  function assignment(statement, owner) {
    const { left, right } = statement.expression;
    if (!/^[\w$]+(\.[\w$#]+)*$/.test(left.getText())) return;
    let name = left.getText().replace(/\.prototype/g, '');
    if (name === 'module.exports') name = 'default';
    name = name.replace(/^module\./, '').replace(/^exports\./, '');
    value(right, qualified(owner, name), statement);
  }
  // group: what describe('name', () => { ... }) declares counts.
  function group(call, owner) {
    let callee = call.expression;
    while (ts.isPropertyAccessExpression(callee)) callee = callee.expression;
    const [name, body] = call.arguments;
    if (!ts.isIdentifier(callee) || !groups.includes(callee.text) || !name || !ts.isStringLiteralLike(name)) return;
    if (isFunction(body) && ts.isBlock(body.body)) statements(body.body.statements, owner);
  }
  function statements(list, owner) {
    for (const s of list) {
      if (ts.isFunctionDeclaration(s)) {
        if (s.body) add(qualified(owner, nameOf(s.name)), s);
      } else if (ts.isClassDeclaration(s)) members(s, qualified(owner, nameOf(s.name)));
      else if (ts.isModuleDeclaration(s)) namespace(s, owner);
      else if (ts.isVariableStatement(s)) variables(s, owner);
      else if (ts.isExportAssignment(s) && !s.isExportEquals) value(s.expression, qualified(owner, 'default'), s);
      else if (!ts.isExpressionStatement(s)) continue;
      else if (ts.isCallExpression(s.expression)) group(s.expression, owner);
      else if (ts.isBinaryExpression(s.expression) && s.expression.operatorToken.kind === ts.SyntaxKind.EqualsToken) assignment(s, owner);
    }
  }
  statements(source.statements, '');
  return found;
}

for (const file of fs.readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const kind = file.endsWith('.tsx') ? ts.ScriptKind.TSX : /\.[mc]?ts$/.test(file) ? ts.ScriptKind.TS : ts.ScriptKind.JSX;
  const source = ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true, kind);
  const result = source.parseDiagnostics.length ? { file, error: true } : { file, functions: functionsOf(source) };
  console.log(JSON.stringify(result));
}
