'use strict';
// Places rewritten so that each visit is counted, with the expressions and claims that were asked for, just before the statement
// runs. What is counted is the business of `tallies.cjs`.
const { functions, isFunction, isModule, named } = require('./naming.cjs');
const { bound, declared, isOwn, outer, usesThis } = require('./scopes.cjs');
const { parts } = require('./parsing.cjs');
const { Spellings } = require('./spellings.cjs');
const { R } = require('./tracing.cjs');

const BLOCK = /^(BlockStatement|Program|StaticBlock)$/;
const SINGLE = { IfStatement: ['consequent', 'alternate'], ForStatement: ['body'], ForOfStatement: ['body'], ForInStatement: ['body'], WhileStatement: ['body'], DoWhileStatement: ['body'] };
const NO_CODE = /^(FunctionDeclaration|ImportDeclaration|ClassDeclaration|EmptyStatement|BlockStatement|ExportAllDeclaration|DebuggerStatement)$/;

// Every statement at which a program can be looked at: {node, line, bare, scope, fn}; `bare` where it stands without braces, `closes`
// where it is the end of a function.
function statements(tree, places) {
  const found = [];
  const open = [[tree, undefined, []]];
  while (open.length) {
    const [node, fn, scope] = open.pop();
    const within = isFunction(node) ? node : fn;
    const inside = isFunction(node) ? [...scope, ...node.params.flatMap((each) => bound(each))] : scope;
    if (isFunction(node) && endsByItself(node.body)) add(found, places, { node: end(node.body), closes: true, scope: [...inside, ...kept(node.body)], fn: node });
    if (isFunction(node) && node.body.type !== 'BlockStatement') add(found, places, { node: node.body, arrow: true, scope: inside, fn: node });
    for (const { node: each, bare, names } of below(node, inside)) {
      if (isStatement(each) && node.type !== 'LabeledStatement' && !NO_CODE.test(each.type) && !hasOnlyDeclarations(each)) add(found, places, { node: each, bare, scope: names, fn: within });
      open.push([each, within, names]);
    }
  }
  return found.sort((one, other) => one.node.start - other.node.start);
}

// The brace that ends a function is where V8 holds it once its last line has run, unless that leaves it.
const endsByItself = ({ type, body }) => type === 'BlockStatement' && !/^(Return|Throw)Statement$/.test(body.at(-1)?.type);
const end = (block) => ({ start: block.end - 1, end: block.end - 1 });
const kept = (block) => block.body.flatMap((each) => (each.type === 'VariableDeclaration' ? each.declarations.flatMap(({ id }) => bound(id)) : []));

const isStatement = (node) => /Statement$|^VariableDeclaration$|^Export(Named|Default)Declaration$/.test(node.type);
const hasOnlyDeclarations = (node) => node.directive || (/^Export/.test(node.type) && (!node.declaration || /^(Function|Class)Declaration$/.test(node.declaration.type)));

function add(found, places, statement) {
  const at = places.at(statement.node.start);
  if (at) found.push({ ...statement, file: at[0], line: at[1] });
}

// The parts of a node with the names that are declared before each; declarations of a loop's header are no statements.
function below(node, scope) {
  const bare = SINGLE[node.type] || [];
  const header = node.type === 'ForStatement' ? node.init : node.left;
  let names = scope;
  if (header && header.type === 'VariableDeclaration' && bare.length) names = [...names, ...header.declarations.flatMap((each) => bound(each.id))];
  if (node.type === 'CatchClause' && node.param) names = [...names, ...bound(node.param)];
  const found = [];
  for (const [key, part] of parts(node)) {
    if (part === header) continue;
    found.push({ node: part, bare: bare.includes(key) && !BLOCK.test(part.type), names });
    const declaration = part.type === 'ExportNamedDeclaration' ? part.declaration : part;
    const inList = BLOCK.test(node.type) || node.type === 'SwitchCase';
    if (inList && declaration && declaration.type === 'VariableDeclaration') names = [...names, ...declaration.declarations.flatMap((each) => bound(each.id))];
  }
  return found;
}

// The statement of a place: on its very line, or the end of a function there, else the next one behind it.
function statementAt(all, file, line) {
  const here = all.filter((each) => each.file === file);
  const exact = here.filter((each) => each.line === line);
  return exact.find((each) => !each.closes) || exact[0] || here.find((each) => each.line > line && !each.closes);
}

// Puts one probe in, wherever the file has what it names. Answers lists: ['found', …] for each place, or one ['missing', …];
// none where the file is not meant.
function place(ask, tree, places, edits) {
  const { where } = ask;
  const all = statements(tree, places);
  if (where.function) return placeFunctions(ask, all, tree, places, edits);
  if (!places.files.includes(where.file)) return [];
  const target = statementAt(all, where.file, where.line);
  if (!target) return [['missing', ask.place, `no statement at line ${where.line} or behind it`]];
  const fn = functions(tree).find((each) => each.node === target.fn);
  return [put(ask, target, fn ? fn.qualified : '<module>', tree, places, edits)];
}

// Every function of that name: of two that a file has, either may be the one that runs.
function placeFunctions(ask, all, tree, places, edits) {
  const { where } = ask;
  if ((where.module && !isModule(places.file, where.module)) || (where.file && !places.files.includes(where.file))) return [];
  const fns = named(functions(tree), where.function);
  const said = [];
  for (const { node: { body }, qualified } of fns) {
    const target = all.find((each) => !each.closes && each.node.start >= body.start && each.node.end <= body.end);
    if (target) said.push(put(ask, target, qualified, tree, places, edits));
  }
  if (fns.length && !said.length) said.push(['missing', ask.place, `${fns[0].qualified} has no statement to look at`]);
  return said;
}

function put(ask, target, called, tree, places, edits) {
  const spellings = new Spellings(tree, places, target.node.start);
  const names = visible(target, tree).filter((name) => spellings.isWritten(name, target.file));
  edits.wrap(target.node.start, target.node.end, ...inserted(ask, target, called, names, (text) => spellings.within(text)));
  return ['found', ask.place, called, target.file, target.line];
}

function visible({ fn, scope }, tree) {
  const own = fn ? declared(fn) : new Set();
  const names = [...new Set(scope)].filter(isOwn).slice(-40).sort((one, other) => own.has(other) - own.has(one));
  if (fn) for (const name of outer(fn, [], tree)) if (!names.includes(name)) names.push(name);
  return fn && usesThis(fn) ? ['this', ...names] : names;
}

// The place knows what it counts; where a visit is, and what can be seen there, is told by whoever comes.
function inserted(ask, { bare, arrow, closes }, called, names, meant) {
  const begin = `const __sf_p=${R}.places[${ask.place}];`;
  const each = [
    ...(ask.evals || []).map((text, at) => `try{__sf_p.take(${at},(${meant(text)}))}catch(__sf_e){__sf_p.fail(${at},__sf_e)}`),
    ...(ask.expects || []).map((text, at) => `try{__sf_p.claim(${at},(${meant(text)}))}catch(__sf_e){__sf_p.unclear(${at},__sf_e)}`),
  ].map((text) => text.replace(/\n/g, ' '));
  const values = names.map((name) => `__sf_p.o(()=>${name})`).join(',');
  const look = `__sf_p.begin();${each.join('')}if(__sf_p.end(${JSON.stringify(called)}))__sf_p.show(${JSON.stringify(names)},[${values}]);`;
  const condition = ask.condition ? `try{__sf_p.meets=(${meant(ask.condition).replace(/\n/g, ' ')})}catch(__sf_e){__sf_p.odd(__sf_e)}if(__sf_p.meets){${look}}` : look;
  const code = `{${begin}if(__sf_p){${condition}}}`;
  if (arrow) return [`{${code}return (`, ')}'];
  if (closes) return [`;${code}`, '']; // what stands before it may have no semicolon
  return bare ? [`{${code}`, '}'] : [code, ''];
}

module.exports = { place };
