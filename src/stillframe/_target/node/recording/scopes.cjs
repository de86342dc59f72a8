'use strict';
// Which variables a statement may look at: those of its own function, once they are declared, and those outside that it uses.
const { isFunction } = require('./naming.cjs');
const { parts, visit } = require('./parsing.cjs');

const MOST_OUTER = 8;
const MACHINERY = /^__|_exports$|^(module|exports|require|jest)$/; // names that compilers and runners give
const MADE = /^(Object|Array|New)Expression$/;

// The names that a pattern binds.
function bound(pattern, names = []) {
  switch (pattern && pattern.type) {
    case 'Identifier': names.push(pattern.name); break;
    case 'ObjectPattern': for (const each of pattern.properties) bound(each.value || each.argument, names); break;
    case 'ArrayPattern': for (const each of pattern.elements) bound(each, names); break;
    case 'AssignmentPattern': bound(pattern.left, names); break;
    case 'RestElement': bound(pattern.argument, names); break;
    default:
  }
  return names;
}

// Every name that is declared in a function, parameters and inner blocks included; of inner functions the name alone.
function declared(root) {
  const names = new Set();
  const params = isFunction(root) ? root.params : [];
  for (const each of params) for (const name of bound(each)) names.add(name);
  for (const { names: own } of declarations(root)) for (const name of own) names.add(name);
  return names;
}

const known = new WeakMap();

// Declarations in a function's or a module's own body: {kind, names, init}.
function declarations(root) {
  if (known.has(root)) return known.get(root);
  const found = [];
  known.set(root, found);
  visit(root, (node) => {
    if (node === root) return true;
    if (node.type === 'VariableDeclaration') for (const each of node.declarations) found.push({ kind: node.kind, names: bound(each.id), init: each.init });
    if (node.type === 'CatchClause' && node.param) found.push({ kind: 'let', names: bound(node.param) });
    if ((node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') && node.id) found.push({ kind: 'function', names: [node.id.name] });
    return !isFunction(node) && !(node.type === 'ClassDeclaration' || node.type === 'ClassExpression');
  });
  return found;
}

// The names that an expression or statement mentions, keys of objects and members left out.
function mentioned(root, skip = () => false) {
  const names = new Set();
  const open = [root];
  while (open.length) {
    const node = open.pop();
    if (skip(node)) continue;
    if (node.type === 'Identifier') names.add(node.name);
    if (node.type === 'ThisExpression') names.add('this');
    for (const [key, part] of parts(node)) {
      const isKey = (key === 'property' || key === 'key') && !node.computed && (node.type !== 'Property' || !node.shorthand);
      if (!isKey) open.push(part);
    }
  }
  return names;
}

// Variables from outside that a function uses and that may have changed since: of functions around it all, of the file those
// that are made to be changed. What is only ever a function or an import is no evidence.
function outer(fn, around, tree) {
  const own = declared(fn);
  const uses = mentioned(fn);
  const found = new Set();
  for (const each of [...around].reverse()) {
    for (const name of each.params.flatMap((param) => bound(param))) if (uses.has(name) && !own.has(name)) found.add(name);
    for (const { kind, names, init } of declarations(each)) {
      if (kind !== 'function' && !(init && isFunction(init))) for (const name of names) if (uses.has(name) && !own.has(name)) found.add(name);
    }
  }
  for (const { kind, names, init } of declarations(tree)) {
    if (kind === 'function' || (kind === 'const' && !(init && MADE.test(init.type))) || (init && isFunction(init))) continue;
    for (const name of names) if (uses.has(name) && !own.has(name)) found.add(name);
  }
  return [...found].filter(isOwn).slice(0, MOST_OUTER);
}

const isOwn = (name) => !MACHINERY.test(name);

// The private fields of `this` that a function uses, as it spells them; those that are methods run code, and are left alone.
function privates(fn, owner) {
  if (!owner) return [];
  const fields = new Set(owner.body.body.filter((each) => each.type === 'PropertyDefinition' && each.key.type === 'PrivateIdentifier').map((each) => each.key.name));
  const found = new Set();
  visit(fn, (node) => {
    if (node.type !== 'MemberExpression' || node.object.type !== 'ThisExpression') return;
    if (node.property.type === 'PrivateIdentifier' && fields.has(node.property.name)) found.add(`this.#${node.property.name}`);
  });
  return [...found].slice(0, MOST_OUTER);
}

// Whether `this` is used, in the function itself or in arrow functions of it.
function usesThis(fn) {
  let found = false;
  visit(fn, (node) => {
    if (node.type === 'ThisExpression') found = true;
    return node === fn || !/^(FunctionDeclaration|FunctionExpression|ClassDeclaration|ClassExpression)$/.test(node.type);
  });
  return found;
}

module.exports = { bound, declared, isOwn, mentioned, outer, privates, usesThis };
