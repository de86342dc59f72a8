'use strict';
// Node's own parser, taken from inside it, and where each position of a text is in the file that people wrote.
const fs = require('fs');
const { SourceMap } = require('module');
const path = require('path');
const { fileURLToPath } = require('url');
const vm = require('vm');
const { Originals } = require('./originals.cjs');

const ACORN = 'internal/deps/acorn/acorn/dist/acorn'; // in Node 18 to 24
const MAP = /^[ \t]*\/\/[#@][ \t]*sourceMappingURL=(\S+)[ \t]*$/gm;
const PRIVATE = /#[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;
const LARGEST = 20_000_000;
let acorn;

class NoParser extends Error {}

function parser() {
  if (acorn) return acorn;
  const made = { exports: {} };
  vm.compileFunction(natives()[ACORN], ['exports', 'module'])(made.exports, made);
  acorn = made.exports;
  return acorn;
}

// The texts of Node's own modules. It warns of asking for them only where every deprecation is told.
function natives() {
  const before = Object.getOwnPropertyDescriptor(process, 'noDeprecation');
  Object.defineProperty(process, 'noDeprecation', { value: true, configurable: true, writable: true });
  try {
    const found = process.binding('natives');
    if (typeof found[ACORN] !== 'string') throw new Error('Node has no acorn in it');
    return found;
  } catch (error) {
    throw new NoParser(`Node's own parser cannot be had here (${error.code || error.message})`);
  } finally {
    if (before) Object.defineProperty(process, 'noDeprecation', before);
    else delete process.noDeprecation;
  }
}

// The tree of a text, as a script or as a module, whichever it is.
function parse(text, type) {
  const kinds = type === 'module' ? ['module'] : ['script', 'module'];
  let first;
  for (const sourceType of kinds) {
    try {
      return parser().parse(text, {
        ecmaVersion: 'latest', sourceType, allowHashBang: true, preserveParens: true,
        allowReturnOutsideFunction: sourceType === 'script', allowAwaitOutsideFunction: sourceType === 'module',
      });
    } catch (error) {
      if (error instanceof NoParser) throw error;
      first = first || error;
    }
  }
  throw first;
}

// One expression of somebody's question; what is none is said with its reason. Whether its private names are declared is known
// only where it is put.
function checkExpression(text) {
  const body = bodyOf(text);
  if (!body || body.length !== 1 || body[0].type !== 'ExpressionStatement') throw new SyntaxError('no single expression');
  let odd = '';
  visit(body[0], (node) => {
    if (/^(Await|Yield)Expression$/.test(node.type)) odd = node.type.slice(0, 5).toLowerCase();
  });
  if (odd) throw new SyntaxError(`it may not use ${odd}, as the function that it is evaluated in may not`);
}

// The statements of a function that is made of this expression; undefined where the text ends that function.
function bodyOf(text) {
  const how = { ecmaVersion: 'latest', preserveParens: true, checkPrivateFields: false };
  const knowsHow = 'checkPrivateFields' in parser().defaultOptions; // from acorn 8.9 on; Debian 12 has an older one in its Node
  const names = knowsHow ? [] : [...new Set(text.match(PRIVATE))];
  if (!names.length) {
    const { body } = parser().parse(`async function* f() { (${text}\n) }`, how);
    return body.length === 1 ? body[0].body.body : undefined;
  }
  const { body } = parser().parse(`class C { ${names.join('; ')}; async *f() { (${text}\n) } }`, how);
  const members = body[0].body.body;
  return body.length === 1 && members.length === names.length + 1 ? members[names.length].value.body.body : undefined;
}

function* parts(node) {
  for (const key in node) {
    const value = node[key];
    if (value === null || typeof value !== 'object') continue;
    if (Array.isArray(value)) {
      for (const each of value) if (each && typeof each.type === 'string') yield [key, each];
    } else if (typeof value.type === 'string') yield [key, value];
  }
}

// Every node from this one down, parents first; what `act` answers false for is not looked into.
function visit(node, act) {
  const open = [node];
  while (open.length) {
    const each = open.pop();
    if (act(each) === false) continue;
    for (const [, part] of parts(each)) open.push(part);
  }
}

// From offsets in a text to the file and line that people know them by, through the text's source map where it has one.
class Places {
  constructor(text, file, columns = 0) {
    this.file = file;
    this.columns = columns; // of the first line, which are not the file's
    this.starts = lineStarts(text);
    this.map = mapOf(text, file);
  }

  generated(offset) {
    const line = lastBefore(this.starts, offset, (start) => start);
    return [line, offset - this.starts[line]];
  }

  // [file, line from 1]; undefined where the map knows of no line that it comes from.
  at(offset) {
    const [line, column] = this.generated(offset);
    return this.map ? this.original(line, line ? column : column - this.columns) : [this.file, line + 1];
  }

  original(line, column) {
    const entry = this.map.table.findEntry(line, column);
    if (entry.originalLine === undefined || entry.generatedLine !== line) return undefined;
    return [this.source(entry.originalSource), entry.originalLine + 1];
  }

  source(name) {
    return this.map.originals.resolve(name, this.map.roots.get(name));
  }

  get files() {
    return this.map ? [...this.map.roots.keys()].map((name) => this.source(name)) : [this.file];
  }
}

function lineStarts(text) {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 0x2028 || code === 0x2029 || (code === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  return starts;
}

// The index of the last of them that is not behind an offset; the first, if all are.
function lastBefore(all, offset, at) {
  let low = 0;
  let high = all.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at(all[middle]) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function mapOf(text, file) {
  let url;
  for (const found of text.matchAll(MAP)) url = found[1];
  if (!url) return undefined;
  try {
    const [content, folder] = mapText(url, file);
    const payload = JSON.parse(content);
    const maps = Array.isArray(payload.sections) ? payload.sections.map((each) => each.map) : [payload];
    if (!maps.every((each) => Array.isArray(each.sources) && typeof each.mappings === 'string')) return undefined;
    const roots = new Map(maps.flatMap((each) => each.sources.filter(Boolean).map((name) => [name, each.sourceRoot || ''])));
    return { table: new SourceMap({ ...payload, sourceRoot: '' }), roots, originals: new Originals(file, folder) };
  } catch (error) { // a map that cannot be read is none: the lines of the text itself are true, too
    return undefined;
  }
}

function mapText(url, file) {
  const inline = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url);
  if (inline) return [inline[1] ? Buffer.from(inline[2], 'base64').toString() : decodeURIComponent(inline[2]), path.dirname(file)];
  const place = url.startsWith('file://') ? fileURLToPath(url) : path.resolve(path.dirname(file), decodeURIComponent(url));
  return [fs.readFileSync(place, 'utf8'), path.dirname(place)];
}

module.exports = { LARGEST, NoParser, Places, checkExpression, lastBefore, lineStarts, parse, parser, parts, visit };
