'use strict';
// What the functions of a text are called, and which of them somebody means: as people say it, `total`, `Cart.total`, `Cart`.
const fs = require('fs');
const path = require('path');
const { parts } = require('./parsing.cjs');

const FUNCTION = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const KEPT_IN = /^(exports\d*|module\d*|this|prototype|__proto__|default|__webpack_modules__)$/; // words that only say where something is kept
const NAMES = /^__name\d*$/;
const DEEPEST = 8;
const ANONYMOUS = '<anonymous>';

const isFunction = (node) => FUNCTION.test(node.type);
const isClass = (node) => node.type === 'ClassDeclaration' || node.type === 'ClassExpression';

// Every function: {node, name, qualified, around, owner}, where `around` are the functions that it stands in, the innermost
// last, and `owner` is the class.
function functions(tree) {
  const found = [];
  const open = [[tree, [], [], [], undefined]];
  while (open.length) {
    const [node, outside, around, hint, owner] = open.pop();
    let inside = outside;
    let within = around;
    if (isFunction(node)) {
      const own = [...kept(hint.slice(0, -1)), (node.id && node.id.name) || hint[hint.length - 1] || ANONYMOUS];
      const name = own[own.length - 1];
      const isScope = name !== 'constructor' && !name.endsWith(ANONYMOUS) && !name.includes('/'); // not modules: webpack's go by paths, Jest 29's by Object.<anonymous>
      inside = !isScope ? outside : [...outside, ...own].slice(-DEEPEST);
      if (!isAlias(node, name)) found.push({ node, name, qualified: [...outside, ...own].slice(-DEEPEST).join('.'), around, owner });
      within = [...around, node];
    } else if (isClass(node)) {
      inside = [...outside, ...kept(node.id ? [node.id.name] : hint)].slice(-DEEPEST);
    } else if (node.type === 'ObjectExpression') {
      inside = [...outside, ...kept(hint)].slice(-DEEPEST);
    }
    const below = [...parts(node)].map(([key, part]) => [part, inside, within, hintFor(node, key, hint), isClass(node) ? node : owner]);
    for (const each of below.reverse()) open.push(each);
  }
  return found;
}

// What compilers export a function by: `{ total: () => total }`, `{ total: function() { return total; } }`, and in Vite
// `() => { try { return total } catch {} }`.
function isAlias(node, name) {
  if (node.type === 'FunctionDeclaration' || node.params.length) return false;
  const { body } = node;
  if (body.type === 'Identifier') return body.name === name;
  const [only, ...more] = body.type === 'BlockStatement' ? body.body : [];
  if (only && !more.length && only.type === 'ReturnStatement' && only.argument && only.argument.type === 'Identifier') return only.argument.name === name;
  if (node.type !== 'ArrowFunctionExpression') return false;
  if (!only || more.length || only.type !== 'TryStatement' || !only.handler || only.handler.body.body.length) return false;
  const [told, ...rest] = only.block.body;
  return !!told && !rest.length && told.type === 'ReturnStatement' && !!told.argument && told.argument.type === 'Identifier';
}

// The names that a part of this node goes by because of where it stands.
function hintFor(node, key, hint) {
  switch (node.type) {
    case 'VariableDeclarator': return key === 'init' && node.id.type === 'Identifier' ? [node.id.name] : [];
    case 'AssignmentExpression': return key === 'right' ? spelling(node.left) : [];
    case 'AssignmentPattern': return key === 'right' ? spelling(node.left) : [];
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition': return key === 'value' ? keyOf(node) : [];
    case 'ExportDefaultDeclaration': return ['default'];
    case 'ParenthesizedExpression': return hint;
    case 'CallExpression': return key === 'arguments' && isNaming(node) ? (hint.length ? hint : [node.arguments[1].value]) : [];
    default: return [];
  }
}

// How esbuild, and tsx with it, lets a function keep its name: `const round = __name((x) => …, "round")`.
function isNaming({ callee, arguments: given }) {
  return callee.type === 'Identifier' && NAMES.test(callee.name) && given.length === 2 && typeof given[1].value === 'string';
}

function spelling(node) {
  if (node.type === 'Identifier') return [node.name];
  if (node.type !== 'MemberExpression') return [];
  const own = node.computed ? (node.property.type === 'Literal' ? [String(node.property.value)] : []) : [nameOf(node.property)];
  const before = node.object.type === 'ThisExpression' ? ['this'] : spelling(node.object);
  return own.length ? [...before, ...own] : [];
}

function keyOf(node) {
  if (!node.computed) return [node.key.type === 'Literal' ? String(node.key.value) : nameOf(node.key)];
  return node.key.type === 'Literal' ? [String(node.key.value)] : [];
}

const nameOf = (node) => (node.type === 'PrivateIdentifier' ? `#${node.name}` : node.name);
const kept = (words) => words.filter((word) => word && !KEPT_IN.test(word));

// Those that are meant by a name.
function named(found, wanted) {
  const spelt = wanted.trim().replace(/^(new|get|set)\s+(?=\S)/, '').replace(/([\w$\]])#/g, '$1.');
  const words = spelt.split('.').filter(Boolean);
  if (!words.length) return [];
  const tail = [...kept(words.slice(0, -1)), words[words.length - 1]].join('.');
  const fits = (each) => `.${each}`.endsWith(`.${tail}`) || `.${each}`.endsWith(`.${tail}.constructor`);
  const meant = found.filter((each) => fits(each.qualified));
  return meant.length ? meant : found.filter((each) => fits(each.qualified.replace(/#/g, '')));
}

// The innermost function that a line is in.
function covering(found, places, file, line) {
  let best;
  for (const each of found) {
    const first = places.at(each.node.start);
    const last = places.at(each.node.end - 1) || first;
    if (!first || first[0] !== file || first[1] > line || last[1] < line) continue;
    if (!best || each.node.end - each.node.start <= best.node.end - best.node.start) best = each;
  }
  return best;
}

// Whether a file is one that somebody calls so: by its name, with or without its ending, by the end of its path, or by its package.
function isModule(file, wanted) {
  const bare = file.replace(/\.[^./]+$/, '');
  const name = path.basename(bare);
  if ([file, bare].some((each) => each === wanted || each.endsWith(`/${wanted}`)) || (name === 'index' && path.dirname(file).endsWith(`/${wanted}`))) return true;
  return file.includes('/node_modules/') ? file.includes(`/node_modules/${wanted}/`) : packageOf(path.dirname(file)) === wanted;
}

const packages = new Map();

// What the package that a folder is in calls itself: those of a workspace are linked to from where they are used.
function packageOf(folder) {
  if (!packages.has(folder)) {
    const above = path.dirname(folder);
    packages.set(folder, nameIn(path.join(folder, 'package.json')) ?? (above === folder ? undefined : packageOf(above)));
  }
  return packages.get(folder);
}

function nameIn(manifest) {
  try {
    return JSON.parse(fs.readFileSync(manifest, 'utf8')).name;
  } catch {
    return undefined; // there is none, or it is no manifest
  }
}

module.exports = { ANONYMOUS, covering, functions, isFunction, isModule, keyOf, named, nameOf };
