'use strict';
// A function rewritten so that it tells what it does: each statement before it runs, with the variables that it can see, each
// call with its arguments and result, each wait, and how it ends. What it told is the business of `frames.cjs`.
const { isFunction } = require('./naming.cjs');
const { bound, mentioned, outer, privates, usesThis } = require('./scopes.cjs');
const { visit } = require('./parsing.cjs');

const R = '__stillframe_r';
const F = '__sf_f';
const MOST_NAMES = 40;
const LOOP = /^(For|ForOf|ForIn|While|DoWhile)Statement$/;
const UNTOLD = /^(require|console\.\w+)$|\.(push|unshift)$/; // calls that say nothing which the line's changes do not
const HEADER = ['init', 'test', 'update', 'left', 'right', 'discriminant', 'object'];

class Tracing {
  constructor({ node, qualified, around, owner }, tree, text, places, edits, options) {
    Object.assign(this, { node, tree, text, places, edits, options });
    const [file, line] = places.at(node.start) || [places.file, 0];
    const last = places.at(node.end - 1) || [file, line];
    this.meta = { function: qualified, file, line, last: last[1], names: [], params: 0, sites: [], calls: [], loops: [] };
    this.outside = options.lines ? [...outer(node, around, tree), ...privates(node, owner)] : [];
    this.reads = new Map(); // how a name is read where reading it may fail
  }

  // Puts everything in, and answers what the recorder has to know of it.
  rewrite(id) {
    const { node, edits } = this;
    const scope = this.entry();
    const condition = this.options.condition ? `,()=>(${this.options.condition.replace(/\n/g, ' ')})` : '';
    const head = `const ${F}=${R}.enter(${id},[${this.values(scope)}]${condition});try{`;
    const tail = `}catch(__sf_e){${R}.threw(${F},__sf_e);throw __sf_e}finally{${R}.leave(${F})}`;
    const { body } = node;
    if (body.type !== 'BlockStatement') {
      const first = this.options.lines ? this.hit(body, scope) : '';
      edits.wrap(body.start, body.end, `{${head}${first}return ${R}.ret(${F},(`, `),${this.seen(scope)});${tail}}`);
      this.expressions(body);
      return this.meta;
    }
    const directives = body.body.filter((each) => each.directive);
    if (directives.length === body.body.length) {
      edits.wrap(body.start, body.end - 1, '', `;${head}${tail}`);
      return this.meta;
    }
    const begin = directives.length ? directives[directives.length - 1].end : body.start + 1;
    edits.wrap(begin, body.end, directives.length ? `;${head}` : head, '');
    const rest = body.body.slice(directives.length);
    if (this.options.lines) this.list(rest, scope, 0, true);
    else this.returns(body);
    edits.wrap(body.start, body.end - 1, '', tail);
    if (this.options.lines) edits.wrap(body.start, body.end - 1, '', `;${F}.on&&${R}.end(${F},${this.seen(this.last || scope)});`);
    for (const each of rest) this.expressions(each);
    return this.meta;
  }

  // Names

  entry() {
    const scope = new Map();
    if (usesThis(this.node)) {
      this.declare(scope, ['this']);
      // There is none before super(), in the constructor and in arrow functions of it.
      if (this.options.derived || this.node.type === 'ArrowFunctionExpression') this.reads.set('this', `${R}.o(()=>this)`);
    }
    for (const each of this.node.params) this.declare(scope, bound(each));
    this.meta.params = this.meta.names.length;
    this.declare(scope, this.outside);
    for (const name of this.outside) this.reads.set(name, `${R}.o(()=>${name})`);
    return scope;
  }

  declare(scope, names) {
    for (const name of names) {
      if (scope.size >= MOST_NAMES) return;
      scope.delete(name);
      scope.set(name, this.meta.names.push(name) - 1);
      if (!this.outside.includes(name) && name !== 'this') this.reads.delete(name);
    }
  }

  values(scope) {
    return [...scope.keys()].map((name) => this.reads.get(name) || name).join(',');
  }

  // A last look at the variables, for what the last line has changed.
  seen(scope) {
    if (!this.options.lines) return '0';
    const index = this.meta.sites.push({ line: 0, slots: [...scope.values()], touched: [], mine: [] }) - 1;
    return `${index},${F}.on?[${this.values(scope)}]:0`;
  }

  // Sites

  site(node, scope, mine = []) {
    const at = this.places.at(node.start);
    if (!at || at[0] !== this.meta.file) return undefined;
    const touched = mentioned(node, (part) => part !== node && isBody(node, part));
    const slots = [...scope.values()];
    const near = [...scope].filter(([name]) => touched.has(name) || name === 'this' || this.outside.includes(name));
    return this.meta.sites.push({ line: at[1], slots, touched: near.map(([, slot]) => slot), mine }) - 1;
  }

  hit(node, scope, how = 'hit', mine = []) {
    const index = this.site(node, scope, mine);
    return index === undefined ? '' : `${F}.on&&${R}.${how}(${F},${index},[${this.values(scope)}]);`;
  }

  lineOf(node) {
    const at = this.places.at(node.start);
    return at ? at[1] : 0;
  }

  // Statements

  list(statements, scope, above, outermost = false) {
    const own = new Map(scope);
    let before = above;
    for (const each of statements) {
      this.statement(each, own, before);
      before = this.lineOf(each) || before;
    }
    if (outermost) this.last = own;
  }

  // The only statement of an `if` or a loop, in braces of its own.
  single(node, scope, above) {
    if (!node) return;
    if (node.type === 'BlockStatement') {
      this.list(node.body, scope, above);
      return;
    }
    this.edits.wrap(node.start, node.end, '{', '}');
    this.statement(node, new Map(scope), above);
  }

  statement(node, scope, above) {
    const { edits } = this;
    const line = this.lineOf(node);
    if (/^(FunctionDeclaration|EmptyStatement|ImportDeclaration)$/.test(node.type)) return;
    if (node.type === 'BlockStatement') {
      this.list(node.body, scope, above);
      return;
    }
    if (node.type === 'LabeledStatement' || LOOP.test(node.type)) {
      this.labelled(node, scope, above);
      return;
    }
    if (line !== above) edits.before(node, this.hit(node, scope));
    switch (node.type) {
      case 'ReturnStatement': this.leaving(node, scope); break;
      case 'VariableDeclaration': for (const each of node.declarations) this.declare(scope, bound(each.id)); break;
      case 'ClassDeclaration': break;
      case 'IfStatement': this.single(node.consequent, scope, line); this.single(node.alternate, scope, line); break;
      case 'TryStatement': this.trying(node, scope, line); break;
      case 'SwitchStatement': for (const each of node.cases) this.list(each.consequent, scope, 0); break;
      case 'BreakStatement': edits.before(node, `${F}.on&&(${F}.broke=true);`); break;
      case 'ContinueStatement': if (this.options.awaits) edits.before(node, `${R}.gone(${F});`); break;
      default:
    }
  }

  leaving(node, scope) {
    if (node.argument) this.edits.wrap(node.argument.start, node.argument.end, ` ${R}.ret(${F},(`, `),${this.seen(scope)})`);
  }

  // Where no lines are told, the values that are returned still are.
  returns(body) {
    visit(body, (node) => {
      if (node.type === 'ReturnStatement') this.leaving(node, new Map());
      return !isFunction(node) && !/^Class/.test(node.type);
    });
  }

  trying(node, scope, line) {
    this.list(node.block.body, scope, line);
    if (node.handler) {
      const { param, body } = node.handler;
      const inside = new Map(scope);
      let name = '__sf_c';
      if (!param) this.edits.wrap(body.start, body.end, `(${name})`, '');
      else if (param.type === 'Identifier') name = param.name;
      else name = `${R}.UNNAMED`;
      if (param) this.declare(inside, bound(param));
      this.edits.wrap(body.start + 1, body.end - 1, `${F}.on&&${R}.caught(${F},${name});`, '');
      this.list(body.body, inside, this.lineOf(body));
    }
    if (node.finalizer && !node.handler) { // what goes through it comes of the line before
      this.edits.wrap(node.block.start, node.block.end, '', `catch(__sf_x){${F}.on&&${R}.caught(${F},__sf_x);throw __sf_x}`);
    }
    if (node.finalizer) this.list(node.finalizer.body, scope, 0);
  }

  labelled(whole, scope, above) {
    let node = whole;
    while (node.type === 'LabeledStatement') node = node.body;
    if (!LOOP.test(node.type)) {
      if (this.lineOf(whole) !== above) this.edits.before(whole, this.hit(whole, scope));
      if (node.type === 'BlockStatement') this.list(node.body, scope, 0);
      return;
    }
    this.loop(whole, node, scope);
  }

  loop(whole, node, scope) {
    const { edits } = this;
    const inside = new Map(scope);
    const before = new Map(scope);
    const left = node.type === 'ForStatement' ? node.init : node.left;
    const given = left && left.type === 'VariableDeclaration' ? left.declarations.flatMap((each) => bound(each.id)) : [];
    this.declare(inside, given);
    if (left && left.kind === 'var') for (const name of given) scope.set(name, inside.get(name));
    const line = this.lineOf(node);
    const last = this.places.at(node.end - 1);
    const oneLine = this.firstLine(node.body) === line;
    const mine = [...inside].filter(([name]) => setBy(node).has(name)).map(([, slot]) => slot);
    const leaves = node.await ? `${R}.gone(${F});` : '';
    if (line) this.meta.loops.push([line, last ? Math.max(last[1], line) : line]);
    edits.before(whole, this.hit(node, before, 'head') + leaves);
    const index = this.meta.sites.length - 1;
    const turn = this.hit(node, inside, 'turn', mine);
    if (turn) Object.assign(this.meta.sites[this.meta.sites.length - 1], { of: index, oneLine });
    edits.after(whole, this.hit(node, before, 'over'));
    const { body } = node;
    if (body.type === 'BlockStatement') {
      edits.wrap(body.start + 1, body.end - 1, turn, leaves && `;${leaves}`);
      this.list(body.body, inside, line);
      return;
    }
    edits.wrap(body.start, body.end, `{${turn}`, leaves ? `;${leaves}}` : '}');
    if (body.type !== 'EmptyStatement') this.statement(body, new Map(inside), line);
  }

  firstLine(body) {
    const first = body.type === 'BlockStatement' ? body.body[0] : body;
    return first ? this.lineOf(first) : this.lineOf(body);
  }

  // Expressions: what is called, and where the function waits. Functions inside of it are not its own.

  expressions(root) {
    const open = [[root, false]];
    while (open.length) {
      const [node, chained] = open.pop();
      if (isFunction(node) || /^Class/.test(node.type)) continue;
      if (this.options.lines && (node.type === 'CallExpression' || node.type === 'NewExpression') && !chained) this.call(node, node, false);
      if (node.type === 'ChainExpression' && node.expression.type === 'CallExpression' && this.options.lines) this.call(node, node.expression, false);
      if (node.type === 'AwaitExpression') this.waiting(node);
      if (node.type === 'YieldExpression') this.yielding(node);
      this.below(node, chained).forEach((each) => open.push(each));
    }
  }

  // The parts of a node, each with whether it is in the middle of a chain (`a?.b().c`), which nothing may be put around.
  below(node, chained) {
    const found = [];
    for (const key in node) {
      const value = node[key];
      for (const each of Array.isArray(value) ? value : [value]) {
        if (!each || typeof each.type !== 'string') continue;
        const inside = node.type === 'ChainExpression' || (chained && (key === 'callee' || key === 'object'));
        found.push([each, inside]);
      }
    }
    return found;
  }

  call(whole, node, awaited) {
    const { edits, text } = this;
    // What compilers make of a call of something imported is `(0, price_1.total)(…)`.
    const spelt = text.slice(node.callee.start, node.callee.end).replace(/\s+/g, ' ').replace(/^\(0, ?[\w$.]+\.([\w$]+)\)$/, '$1').replace(/^__vi\w*_import_\d+__\./, '');
    if (UNTOLD.test(spelt) || node.told) return;
    node.told = true;
    const name = (node.type === 'NewExpression' ? 'new ' : '') + (spelt.length > 60 ? `${spelt.slice(0, 59)}…` : spelt);
    const index = this.meta.calls.push({ name, args: node.arguments.length, ...this.options.known(node.callee) }) - 1;
    const done = awaited ? 'promised' : 'done';
    edits.wrap(whole.start, whole.end, ` ${R}.${done}(${F},${R}.call(${F},${index}),`, ')');
    for (const each of node.arguments) {
      const value = each.type === 'SpreadElement' ? each.argument : each;
      edits.wrap(value.start, value.end, ` ${R}.arg(${F},`, ')');
    }
    if (!node.arguments.length && text[node.end - 1] === ')' && spelt !== 'eval') edits.wrap(node.end - 1, node.end - 1, '', `...${R}.none(${F})`);
  }

  waiting(node) {
    let inner = node.argument;
    while (inner.type === 'ParenthesizedExpression') inner = inner.expression;
    this.edits.wrap(node.start, node.end, ` ${R}.awoke(${F},`, ')');
    this.edits.wrap(node.argument.start, node.argument.end, ` ${R}.waits(${F},`, ')');
    if (this.options.lines && inner.type === 'CallExpression') this.call(inner, inner, true);
  }

  yielding(node) {
    this.edits.wrap(node.start, node.end, ` ${R}.awoke(${F},`, ')');
    if (node.argument) this.edits.wrap(node.argument.start, node.argument.end, ` ${R}.yields(${F},`, ')');
    else this.edits.wrap(node.start, node.end, '', ` ${R}.yields(${F})`);
  }
}

// Whether a part of a statement is a statement of its own, rather than what this one evaluates.
function isBody(node, part) {
  if (!/^(If|For|ForOf|ForIn|While|DoWhile|Switch|Try|Labeled)Statement$/.test(node.type)) return false;
  return !HEADER.some((key) => node[key] === part) && /Statement$|^SwitchCase$|^CatchClause$/.test(part.type);
}

// The names that a loop itself gives values to, turn by turn.
function setBy(node) {
  const names = new Set();
  for (const key of HEADER) {
    const part = node[key];
    if (!part) continue;
    if (part.type === 'VariableDeclaration') for (const each of part.declarations) bound(each.id, []).forEach((name) => names.add(name));
    else if (key === 'left') bound(part).forEach((name) => names.add(name));
    visit(part, (each) => {
      if (each.type === 'AssignmentExpression') bound(each.left).forEach((name) => names.add(name));
      if (each.type === 'UpdateExpression' && each.argument.type === 'Identifier') names.add(each.argument.name);
    });
  }
  return names;
}

module.exports = { R, Tracing };
