'use strict';
// A file about to be run: whether what was asked for is in it, and its text with the telling put in.
const path = require('path');
const { Edits } = require('./edits.cjs');
const { ANONYMOUS, covering, functions, isModule, named } = require('./naming.cjs');
const { LARGEST, NoParser, Places, checkExpression, parse, visit } = require('./parsing.cjs');
const { place } = require('./probing.cjs');
const { Spellings } = require('./spellings.cjs');
const { Tracing } = require('./tracing.cjs');

const LIBRARY = /[\\/]node_modules[\\/]/;
const OURS = path.join(path.dirname(__dirname), path.sep);
const TYPED = /\.([cm]?ts|[jt]sx)$/;
const EVALUATED = /\beval\(.*\/\/# sourceURL=webpack/; // as bundles of webpack's for development do
const MOST_DEFINED = 2000;

class Rewriter {
  constructor(ask, firstId) {
    this.ask = ask;
    this.trace = ask.trace;
    this.probes = ask.probes || [];
    this.id = firstId;
    this.defined = 0;
    this.unreadable = undefined;
    this.wrong = this.check();
  }

  // What is wrong with the question itself: [which part of it, why], for each expression that is none.
  check() {
    const wrong = [];
    const isFine = (what, text) => {
      try {
        checkExpression(text);
        return true;
      } catch (error) {
        if (error instanceof NoParser) throw error;
        wrong.push([`${what} ${text}`, error.message.replace(/ \(\d+:\d+\)$/, '')]);
        return false;
      }
    };
    try {
      if (this.trace && this.trace.condition && !isFine('--if', this.trace.condition)) this.trace = undefined;
      this.probes = this.probes.filter(({ condition, evals = [], expects = [] }) => {
        const words = [...(condition ? [['if', condition]] : []), ...evals.map((text) => ['--eval', text]), ...expects.map((text) => ['--expect', text])];
        return words.map(([what, text]) => isFine(what, text)).every(Boolean);
      });
    } catch (error) {
      if (!(error instanceof NoParser)) throw error;
      this.unreadable = error.message;
    }
    return wrong;
  }

  isUsers(file) {
    return !file.startsWith(OURS) && (this.ask.all_code || !LIBRARY.test(file)); // wherever it lies: packages of a workspace are linked to each other
  }

  // {text, said, metas, moved, begin}; undefined where nothing in it was asked for. `follows`: with the functions that may be called.
  rewrite(text, file, type, columns = 0, follows = true) {
    if (this.unreadable || text.length > LARGEST || text.includes('__stillframe_r.')) return undefined;
    if (!this.isUsers(file) && !this.isNamed(file)) return undefined;
    const said = EVALUATED.test(text) ? [['note', `${path.basename(file)} evaluates its modules (devtool: eval): what is in those is not recorded`]] : [];
    let tree;
    try {
      tree = parse(text, type);
    } catch (error) {
      if (!this.isNamed(file) || TYPED.test(file)) return undefined; // a compiler will come to it, and then we once more
      return { text, said: [['note', `${path.basename(file)} cannot be read: ${error.message}`]], metas: [] };
    }
    const places = new Places(text, file, columns);
    const edits = new Edits();
    const metas = this.trace ? this.traced(tree, text, places, edits, said, follows) : [];
    for (const each of this.probes) said.push(...place(each, tree, places, edits));
    if (!edits.made.length) return said.length || places.map ? { text, said, metas, moved: moved(text, edits, places) } : undefined;
    const made = this.finished(text, tree, edits, said, metas, places);
    return made.text === text && follows && metas.length > 1 ? this.rewrite(text, file, type, columns, false) : made;
  }

  isNamed(file) {
    return [this.trace, ...this.probes].some((each) => each && each.where.file === file);
  }

  finished(text, tree, edits, said, metas, places) {
    const made = edits.applied(text);
    try {
      parse(made, tree.sourceType);
    } catch (error) { // as of a function that declares a name twice, which a block may not
      const why = `${path.basename(places.file)} cannot be rewritten for recording: ${error.message}`;
      const found = said.filter(([kind]) => kind === 'found');
      const targets = found.map(([, place, called]) => (this.trace ? ['unwritten', called, why] : ['missing', place, why]));
      return { text, said: targets.length ? targets : [['note', why]], metas: [] };
    }
    return { text: made, said, metas, moved: moved(text, edits, places), begin: tree.body.length ? tree.body[0].start : 0 };
  }

  traced(tree, text, places, edits, said, all) {
    const found = functions(tree);
    const targets = new Set(this.targets(found, places));
    if (!targets.size) this.define(found, places, said);
    const { file, line } = this.trace.where;
    if (!targets.size && line && file === places.file) {
      said.push(['missing', -1, `no function of ${path.basename(file)} holds line ${line}, and functions alone are recorded`]);
    }
    const follows = all && this.trace.depth > 0 && this.isUsers(places.file);
    const byName = follows || targets.size ? sorted(found) : undefined;
    const metas = [];
    for (const each of found) {
      if (!targets.has(each) && !follows) continue;
      const id = this.id++;
      const meta = new Tracing(each, tree, text, places, edits, this.options(each, byName, tree, places, targets.has(each))).rewrite(id);
      if (targets.has(each)) said.push(['found', -1, meta.function, meta.file, meta.line, meta.last, meta.loops]);
      metas.push([id, { ...meta, target: targets.has(each) }]);
    }
    return metas;
  }

  targets(found, places) {
    const { where } = this.trace;
    if (where.file && !places.files.includes(where.file)) return [];
    if (where.module && !isModule(places.file, where.module)) return [];
    if (where.function) return named(found, where.function);
    const inner = where.file ? covering(found, places, where.file, where.line) : undefined;
    return inner ? [inner] : [];
  }

  define(found, places, said) {
    for (const { qualified, name, node } of found) {
      const at = places.at(node.start);
      if (name === ANONYMOUS || !at || this.defined++ >= MOST_DEFINED) continue;
      said.push(['defined', qualified, at[0], at[1]]);
    }
  }

  options({ node, name }, byName, tree, places, isTarget) {
    let awaits = false;
    visit(node.body, (each) => {
      if (each.type === 'ForOfStatement' && each.await) awaits = true;
    });
    return {
      lines: this.trace.lines !== false,
      condition: isTarget && this.trace.condition ? new Spellings(tree, places, node.start).within(this.trace.condition) : undefined,
      derived: name === 'constructor',
      awaits,
      known: (callee) => known(callee, byName, places),
    };
  }
}

// Of a function that is called by its bare name, and that this file has one of: where it is, and what its parameters are called.
function known(callee, byName, places) {
  const named = callee.type === 'Identifier' ? byName.get(callee.name) : undefined;
  if (!named || named.length !== 1) return {};
  const [{ node }] = named;
  const at = places.at(node.start);
  const params = node.params.map((each) => (each.type === 'Identifier' ? each.name : each.left && each.left.type === 'Identifier' ? each.left.name : ''));
  return at ? { file: at[0], line: at[1], params } : { params };
}

const moved = (text, edits, { file, columns }) => ({ file, text, edits: edits.told, columns });

function sorted(found) {
  const byName = new Map();
  for (const each of found) byName.set(each.name, [...(byName.get(each.name) || []), each]);
  return byName;
}

module.exports = { Rewriter };
