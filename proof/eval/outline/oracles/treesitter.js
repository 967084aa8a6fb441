// Prints the functions of the files that standard input names, as the tree-sitter grammar
// of a language parses them: node treesitter.js LANGUAGE; the form is that of python.py.
// README.md says which functions count and how they are named.
const fs = require('fs');
const path = require('path');
const Parser = require('web-tree-sitter');

const field = (node, name) => {
  const child = node.childForFieldName(name);
  return child ? child.text : '';
};
const childOf = (node, ...types) => node.namedChildren.find((c) => types.includes(c.type));
const byField = (node) => field(node, 'name');
const body = (node) => node.childForFieldName('body');
const withoutBlanks = (text) => text.replace(/\s+/g, '');
const withoutParameters = (text) => text.replace(/<.*>/gs, '');

// declared returns the name that a declarator of C or C++ declares.
function declared(node) {
  const names = ['identifier', 'field_identifier', 'type_identifier', 'destructor_name', 'operator_name'];
  while (node) {
    if (node.type === 'operator_cast') return 'operator' + withoutBlanks(field(node, 'type'));
    if (names.includes(node.type)) return withoutBlanks(node.text);
    if (node.type === 'template_function') return byField(node);
    if (node.type === 'qualified_identifier') {
      const scope = withoutParameters(field(node, 'scope'));
      return (scope && scope + '.') + declared(node.childForFieldName('name'));
    }
    node = node.childForFieldName('declarator') || node.namedChildren.find((c) => /declarator|identifier|destructor_name|operator/.test(c.type));
  }
  return '';
}

function csharpName(node) {
  if (node.type === 'destructor_declaration') return '~' + byField(node);
  if (node.type === 'operator_declaration') return 'operator' + field(node, 'operator');
  if (node.type === 'conversion_operator_declaration') return 'operator' + withoutBlanks(field(node, 'type'));
  return byField(node);
}

function swiftName(node) {
  const fixed = { init_declaration: 'init', deinit_declaration: 'deinit', subscript_declaration: 'subscript' };
  return fixed[node.type] || byField(node).replace(/`/g, '');
}

// property returns the code of a computed property, null of another property.
function property(node) {
  return node.childForFieldName('computed_value');
}

// withTemplate returns the template declaration around a function, or the function.
function withTemplate(node) {
  const around = node.parent.type === 'friend_declaration' ? node.parent.parent : node.parent;
  return around.type === 'template_declaration' ? around : node;
}

function implemented(node) {
  if (node.type !== 'impl_item') return byField(node);
  return withoutParameters(field(node, 'type')).replace(/^&?\s*('\w+\s+)?(mut\s+|dyn\s+)?/, '').split('::').pop();
}

// Of each language: its grammar; the node types of functions, with their name and body (a
// function without a body does not count); the node types that qualify the names of what
// they hold; the node types that are not looked into.
const languages = {
  java: {
    grammar: 'java',
    functions: ['method_declaration', 'constructor_declaration', 'compact_constructor_declaration'],
    types: ['class_declaration', 'interface_declaration', 'enum_declaration', 'record_declaration', 'annotation_type_declaration'],
    skip: ['field_declaration', 'constant_declaration', 'enum_constant', 'static_initializer', 'block'],
  },
  c: {
    grammar: 'c',
    functions: ['function_definition'],
    name: (node) => declared(node.childForFieldName('declarator')),
    types: [],
    skip: ['compound_statement'],
  },
  cpp: {
    grammar: 'cpp',
    functions: ['function_definition'],
    name: (node) => declared(node.childForFieldName('declarator')),
    body: (node) => childOf(node, 'compound_statement', 'try_statement'),
    start: withTemplate,
    types: ['class_specifier', 'struct_specifier', 'union_specifier'],
    typeName: (node) => withoutParameters(byField(node)).replace(/::/g, '.'),
    skip: ['compound_statement'],
  },
  csharp: {
    grammar: 'c_sharp',
    functions: ['method_declaration', 'constructor_declaration', 'destructor_declaration', 'operator_declaration', 'conversion_operator_declaration'],
    name: csharpName,
    body: (node) => body(node) || childOf(node, 'block', 'arrow_expression_clause'),
    types: ['class_declaration', 'struct_declaration', 'interface_declaration', 'record_declaration', 'record_struct_declaration', 'enum_declaration'],
    skip: ['block'],
  },
  kotlin: {
    grammar: 'kotlin',
    functions: ['function_declaration', 'secondary_constructor'],
    name: (node) => (node.type === 'secondary_constructor' ? 'constructor' : childOf(node, 'simple_identifier').text.replace(/`/g, '')),
    body: (node) => (node.type === 'secondary_constructor' ? node.children.find((c) => c.type === '{' || c.type === 'statements') : childOf(node, 'function_body')),
    types: ['class_declaration', 'object_declaration', 'companion_object'],
    typeName: (node) => (childOf(node, 'type_identifier') || { text: 'Companion' }).text,
    skip: ['property_declaration', 'function_body', 'getter', 'setter', 'enum_entry', 'anonymous_initializer'],
  },
  swift: {
    grammar: 'swift',
    functions: ['function_declaration', 'init_declaration', 'deinit_declaration', 'subscript_declaration', 'property_declaration'],
    name: swiftName,
    body: (node) => body(node) || childOf(node, 'computed_property', 'function_body') || property(node),
    types: ['class_declaration', 'protocol_declaration'],
    typeName: (node) => withoutParameters(byField(node)).split('.').pop(),
    skip: [],
  },
  ruby: {
    grammar: 'ruby',
    functions: ['method', 'singleton_method'],
    body: (node) => node,
    types: ['class', 'module'],
    typeName: (node) => byField(node).replace(/^::/, '').replace(/::/g, '.'),
    skip: ['block', 'do_block', 'lambda', 'if', 'unless', 'begin', 'case'],
  },
  php: {
    grammar: 'php',
    functions: ['function_definition', 'method_declaration'],
    types: ['class_declaration', 'interface_declaration', 'trait_declaration', 'enum_declaration'],
    skip: ['expression_statement', 'property_declaration', 'if_statement', 'return_statement'],
  },
  rust: {
    grammar: 'rust',
    functions: ['function_item', 'macro_definition'],
    name: (node) => byField(node).replace(/^r#/, ''),
    body: (node) => node,
    types: ['impl_item', 'trait_item', 'mod_item'],
    typeName: implemented,
    skip: ['macro_invocation', 'const_item', 'static_item'],
  },
};

function functionsOf(root, language) {
  const { functions, types, skip, name = byField, typeName = byField, start = (node) => node } = language;
  const bodyOf = language.body || body;
  const found = [];
  const add = (node, owner) => {
    const from = start(node).startPosition.row;
    const { row, column } = node.endPosition;
    const to = column === 0 && row > from ? row - 1 : row; // it ends with the line end before
    found.push([owner + name(node), from + 1, to + 1]);
  };
  const walk = (node, owner) => {
    for (const child of node.namedChildren) {
      if (functions.includes(child.type)) {
        if (bodyOf(child)) add(child, owner);
      } else if (types.includes(child.type)) {
        const own = typeName(child);
        walk(child, own ? owner + own + '.' : owner);
      } else if (!skip.includes(child.type)) walk(child, owner);
    }
  };
  walk(root, '');
  return found;
}

async function main() {
  const language = languages[process.argv[2]];
  await Parser.init();
  const grammars = path.join(path.dirname(require.resolve('tree-sitter-wasms/package.json')), 'out');
  const parser = new Parser();
  parser.setLanguage(await Parser.Language.load(path.join(grammars, `tree-sitter-${language.grammar}.wasm`)));
  for (const file of fs.readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
    const tree = parser.parse(fs.readFileSync(file, 'utf8'));
    const result = tree.rootNode.hasError ? { file, error: true } : { file, functions: functionsOf(tree.rootNode, language) };
    console.log(JSON.stringify(result));
    tree.delete();
  }
}

main();
