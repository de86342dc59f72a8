'use strict';
// Names that a compiler spells otherwise: `VAT` of `import { VAT } from './tax'` runs as `tax_1.VAT`. Found by the source map, as
// `backends/cdp/spellings.py` finds them for the debugger.
const fs = require('fs');
const { isFunction } = require('./naming.cjs');
const { parser, parts, visit } = require('./parsing.cjs');

const WORD = /^[A-Za-z_$][\w$]*/;
const GIVEN = /^(?:import_[\w$]+|_[\w$]+|[\w$]+_\d+|__vi[\w$]+)$/; // what esbuild, Babel, TypeScript and Vite call modules

class Spellings {
  // `offset` is that of the statement or function at which the names are meant.
  constructor(tree, places, offset) {
    this.offset = offset;
    this.tree = tree;
    this.places = places;
    this.texts = new Map();
    this.lines = new Map();
  }

  // An expression of somebody's question, with the names in it that what runs has only as members of other things.
  within(text) {
    if (!this.places.map) return text;
    const found = [...bareNames(parser().parse(`(${text}\n)`, { ecmaVersion: 'latest', checkPrivateFields: false }))]
      .map((name) => [name, this.spelled(name)]).filter(([, spelled]) => spelled);
    if (!found.length) return text;
    return `((${found.map(([name]) => name).join(',')})=>(${text}))(${found.map(([, spelled]) => spelled).join(',')})`;
  }

  // Whether the user wrote a name, as far as that is in doubt.
  isWritten(name, file) {
    return !this.places.map || !GIVEN.test(name) || !this.text(file) || this.text(file).includes(name);
  }

  spelled(name) {
    this.known ??= bareNames(this.tree, ({ start, end }) => start <= this.offset && this.offset < end);
    if (this.known.has(name) || name in globalThis) return undefined;
    for (const { object, member, start, text } of this.members()) {
      const at = this.original(start);
      if (!at || at.word !== name) continue;
      const imported = importedAs(this.text(at.file), name);
      if (imported.includes('*')) return object;
      if (member === name || imported.includes(member)) return text;
    }
    return this.atHome(name);
  }

  // A bundle of one scope has an import by the name that it has at home, or by that and a number. Not where the user's file has
  // that word for something else, which a function may have as a variable of its own.
  atHome(name) {
    const file = this.original(this.offset)?.file;
    if (!file) return undefined;
    const aliases = importedAs(this.text(file), name).filter((each) => /^\w/.test(each) && each !== 'default' && !isElse(this.text(file), each, name));
    for (const each of this.identifiers) {
      if (!aliases.includes(each.name.replace(/[_$]*\d*$/, '')) && !aliases.includes(each.name)) continue;
      const at = this.original(each.start);
      if (at && at.file === file && at.word === name) return each.name;
    }
    return undefined;
  }

  members() {
    if (this.found) return this.found;
    this.found = [];
    this.identifiers = [];
    visit(this.tree, (node) => {
      if (node.type === 'Identifier') this.identifiers.push(node);
      if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier') return;
      const { object, property, start, computed } = node;
      if (!computed && property.type === 'Identifier') this.found.push({ object: object.name, member: property.name, start, text: `${object.name}.${property.name}` });
      if (computed && typeof property.value === 'string') this.found.push({ object: object.name, member: property.value, start, text: `${object.name}[${property.raw}]` });
    });
    return this.found;
  }

  // The word that a position was made from, and the file that has it.
  original(offset) {
    const [line, column] = this.places.generated(offset);
    const entry = this.places.map.table.findEntry(line, line ? column : column - this.places.columns);
    if (entry.originalLine === undefined || entry.generatedLine !== line) return undefined;
    const file = this.places.source(entry.originalSource);
    if (!this.lines.has(file)) this.lines.set(file, this.text(file).split('\n'));
    const text = this.lines.get(file)[entry.originalLine] || '';
    return { file, word: (WORD.exec(text.slice(entry.originalColumn)) || [''])[0] };
  }

  text(file) {
    if (!this.texts.has(file)) {
      let text = '';
      try {
        text = fs.readFileSync(file, 'utf8');
      } catch (error) { // a source that was not shipped
      }
      this.texts.set(file, text);
    }
    return this.texts.get(file);
  }
}

// Names that stand for themselves, and are no keys and no members; of functions that are not `around`, their own name alone.
function bareNames(tree, around = () => true) {
  const found = new Set();
  const open = [tree];
  while (open.length) {
    const node = open.pop();
    if (node.type === 'Identifier') found.add(node.name);
    if (isFunction(node) && !around(node)) {
      if (node.id) open.push(node.id);
      continue;
    }
    for (const [key, part] of parts(node)) {
      const isName = (key === 'property' || key === 'key') && !node.computed;
      if (!isName) open.push(part);
    }
  }
  return found;
}

// What a name is where it comes from: `default`, `*` for all of a module, or the name before an `as`.
function importedAs(text, name) {
  const word = name.replace(/\$/g, '\\$&');
  const found = [...text.matchAll(new RegExp(`([A-Za-z_$][\\w$]*|\\*)\\s+as\\s+${word}(?![\\w$])`, 'g'))].map(([, before]) => before);
  return new RegExp(`\\bimport\\s+${word}(?![\\w$])`).test(text) ? [...found, 'default'] : found;
}

// Whether a text has a word for something else than what it imports as this name.
function isElse(text, word, name) {
  const [other, own] = [word, name].map((each) => each.replace(/\$/g, '\\$&'));
  const rest = text.replace(new RegExp(`\\b${other}\\s+as\\s+${own}\\b`, 'g'), '');
  return new RegExp(`(?<![\\w$.#])${other}(?![\\w$])`).test(rest);
}

module.exports = { Spellings };
