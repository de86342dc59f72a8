// Evaluated in every Node target: what a held program is asked, conditions, hit counts, logs, and modules about to be loaded.
//
// It lives under a symbol of the global object that no enumeration shows.
(function (makeInner, makeStates, makeValues, makeShapes) {
  'use strict';
  const KEY = Symbol.for('stillframe');
  if (globalThis[KEY]) return 'known';

  const load = typeof require === 'function' ? require : (name) => process.getBuiltinModule(name);
  const Module = globalThis[Symbol.for('stillframe.loader')] || load('module');
  const inner = makeInner(load);
  const stateOf = makeStates(load);
  const values = makeValues(load, inner, stateOf);
  const {
    Writer, typeName, className, errorLine, errorName, keyText, entriesOf, membersOf, fieldsOf, fieldsBeside, totalOf, hasMore, quoted, accessor,
  } = values;
  const shapeOf = makeShapes(load, values);
  const util = load('util');
  const { isProxy, isMap, isSet, isNativeError, isPromise, isTypedArray, isModuleNamespaceObject, isArgumentsObject } = util.types;
  const descriptor = Object.getOwnPropertyDescriptor;
  const prototype = Object.getPrototypeOf;
  const isArray = Array.isArray;
  const ownKeys = Reflect.ownKeys;
  const inspect = util.inspect;
  const hasOwn = Object.prototype.hasOwnProperty;

  const DEPTH = 3;
  const CAUSES = 8; // errors of a chain that are told
  const INSIDE = 12; // parts of one value that are told along with it
  const PART = 80; // characters of each
  const NAMES = 1000; // variables of a scope whose names are told
  const PLAIN = { depth: 2, customInspect: false, showProxy: true, getters: false, breakLength: Infinity, maxArrayLength: 100, maxStringLength: 1000 };
  const CJS = new Set(['exports', 'require', 'module', '__filename', '__dirname', 'arguments']);
  const GLUE = /^__(?:unused_)?webpack_|__WEBPACK_|^__vi(?:te(?:_ssr)?)?_\w+__$/; // names that webpack and Vite give to their own
  const IMPORTED = /^import_[\w$]+$/; // and esbuild, beside what the program itself may call so
  const BUILTIN = new Set(Module.builtinModules);
  // The world of a test is behind a Proxy in Jest 30, whose traps are Jest's own and let everything through. Jest is started by many
  // names (`.bin/jest`, a worker's, a script that runs it): what is loaded tells it.
  const OF_JEST = /[\\/]jest-(?:runtime|runner|environment-node)[\\/]/;

  let kept = new Map();
  let numbers = 0;
  const counts = new Map();
  const passes = new Map();
  let hits = [];
  let failed = [];

  function describe(name, value, bounds) {
    const writer = new Writer(bounds);
    const told = { name, type: typeName(value), value: writer.text(value, bounds.text, DEPTH) };
    const total = totalOf(value);
    if (total !== undefined) told.total = total;
    if (writer.cut) {
      told.truncated = true;
      if (hasMore(value)) told.ref = keep(value);
      const shape = shapeOf(value);
      if (shape !== undefined) told.shape = shape;
    }
    return told;
  }

  function keep(value) {
    numbers += 1;
    kept.set(numbers, value);
    return numbers;
  }

  // Scopes

  function variables(scope) {
    const found = [];
    for (const name of ownKeys(scope)) {
      if (typeof name !== 'string') continue;
      let known;
      try {
        known = descriptor(scope, name);
      } catch (error) { // not initialised yet
        known = { unset: true };
      }
      if (known) found.push([name, known]);
    }
    return found;
  }

  // What the variables of each scope are called.
  function names(scopes) {
    return { scopes: scopes.map((scope) => ownKeys(scope).filter((name) => typeof name === 'string').slice(0, NAMES)) };
  }

  // What a module has of other modules is no state of the program.
  function isModule(name, value) {
    if (typeof value !== 'object' || value === null || isProxy(value)) return false;
    if (isModuleNamespaceObject(value)) return true;
    if (BUILTIN.has(name)) return load(name) === value;
    const loaded = Module._cache;
    for (const file in loaded) if (loaded[file].exports === value && ownKeys(value).length) return true;
    return false;
  }

  function rank(name, used) {
    const at = used.indexOf(name);
    return at < 0 ? used.length : at;
  }

  // kinds: one word per scope, 'own' (of the call itself), 'top' (of a module's top level), 'outer' (a closure), 'used' (a
  // module's top level, of which only what the function mentions is told)
  function locals(fresh, kinds, used, mentioned, start, count, bounds, self, scopes) {
    if (fresh) kept = new Map();
    const rows = [];
    const seen = new Set();
    scopes.forEach((scope, index) => {
      const found = variables(scope);
      const wraps = kinds[index] !== 'own' || found.some(([name]) => name === '__vite_ssr_exports__');
      for (const [name, known] of found) {
        if (known.unset || seen.has(name) || GLUE.test(name) || (wraps && CJS.has(name))) continue;
        if (kinds[index] === 'used' && !mentioned.includes(name)) continue;
        if (kinds[index] === 'outer' && IMPORTED.test(name) && !mentioned.includes(name)) continue;
        if (kinds[index] !== 'own' && (typeof known.value === 'function' || isModule(name, known.value))) continue;
        if (name === 'arguments' && !mentioned.includes(name)) continue;
        seen.add(name);
        rows.push([name, known, kinds[index] === 'outer' || kinds[index] === 'used' ? 1 : 0]);
      }
    });
    if (hasSelf(self) || (self === undefined && used.includes('this'))) rows.push(['this', { value: self }, 0]);
    const ordered = rows.map((row, index) => [row[2] * 1000 + rank(row[0], used), index, row]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const shown = ordered.slice(start, start + count).map(([, , found]) => found);
    const page = shown.map(([name, known]) => row(name, known, bounds));
    if (bounds.inside) page.reduce((left, each, index) => left - inside(each, shown[index][1].value, Math.min(left, INSIDE), bounds), bounds.inside);
    return { values: page, total: rows.length };
  }

  // What is asked at every stop in a line is put into words once, and meant by its number from then on: V8 compiles each question anew.
  const wordings = new Map();

  function learn(number, ...words) {
    wordings.set(number, words);
  }

  function again(number, self, scopes) {
    return locals(...wordings.get(number), self, scopes);
  }

  // Adds to a value whose text is cut its first parts, each in short; gives how many.
  function inside(told, value, most, bounds) {
    if (told.ref === undefined || most <= 0 || typeof value === 'string' || isTypedArray(value)) return 0;
    const { values: parts } = children(value, 0, most, { text: PART, items: bounds.items });
    told.children = parts.map(({ name, type, value: text, total }) => ({ name, type, value: text, total }));
    return parts.length;
  }

  function hasSelf(self) {
    if (self === null || typeof self !== 'object' || self === globalThis) return false;
    if (isProxy(self)) return true;
    return !(className(self) === 'Object' && fieldsOf(self).length === 0);
  }

  function row(name, known, bounds) {
    if ('value' in known) return describe(name, known.value, bounds);
    if (known.unset) return { name, value: '<uninitialised>' };
    return { name, type: 'getter', value: accessor(known) };
  }

  // V8 compiles a function when it is first called and learns its ways over a few calls more: the first steps took half as long
  // again. Run while somebody reads the first stop; values of our own, of which nothing is kept.
  function warm() {
    const bounds = { text: 200, items: 20, inside: 24 };
    const scopes = [{ a: 1, b: 'two', c: { d: 3 }, e: [4, 'five'], f: undefined, g: true }, { h: new Map([[6, 7]]), i: warm }];
    for (let round = 0; round < 80; round++) locals(false, ['own', 'outer'], ['a', 'b'], [], 0, 20, bounds, null, scopes);
    return {};
  }

  function scope(value, start, count, bounds) {
    const rows = variables(value);
    return { values: rows.slice(start, start + count).map(([name, known]) => row(name, known, bounds)), total: rows.length };
  }

  // More of a value

  function expand(number, start, count, bounds) {
    if (!kept.has(number)) return { stale: true };
    return children(kept.get(number), start, count, bounds);
  }

  function children(value, start, count, bounds) {
    if (typeof value === 'string') return slices(value, start, count, bounds);
    if (!isProxy(value) && (isArray(value) || isTypedArray(value) || isArgumentsObject(value))) {
      const total = totalOf(value);
      const page = [];
      for (let at = start; at < Math.min(start + count, total); at++) {
        const known = descriptor(value, at);
        page.push(known ? row(`[${at}]`, known, bounds) : { name: `[${at}]`, value: '<empty>' });
      }
      return { values: page, total };
    }
    if (isMap(value)) {
      const page = entriesOf(value, start, count).map(([key, item]) => describe(`[${new Writer({ text: 60, items: 4 }).text(key, 60, 1)}]`, item, bounds));
      return { values: page, total: totalOf(value) };
    }
    if (isSet(value)) {
      const page = membersOf(value, start, count).map((item, index) => describe(`[${start + index}]`, item, bounds));
      return { values: page, total: totalOf(value) };
    }
    const rows = isProxy(value) ? inner.proxied(value) : partsOf(value);
    const one = (key) => (isArray(key) ? describe(key[0], key[1], bounds) : row(keyText(key), descriptor(value, key), bounds));
    return { values: rows.slice(start, start + count).map(one), total: rows.length };
  }

  // Fields, and what is in none: the state of built-in classes, what a promise is settled with.
  function partsOf(value) {
    const state = stateOf(value);
    if (state !== undefined) return [...state, ...fieldsBeside(state, value)];
    const keys = isNativeError(value) ? ownKeys(value) : fieldsOf(value);
    const settled = isPromise(value) ? inner.settled(value).map((each) => ['[[Result]]', each]) : [];
    return [...settled, ...keys, ...(inner.privates(value) || [])];
  }

  function slices(value, start, count, bounds) {
    const page = [];
    for (let low = start; low < Math.min(start + count * bounds.text, value.length); low += bounds.text) {
      const high = Math.min(low + bounds.text, value.length);
      page.push({ name: `[${low}:${high}]`, type: 'string', value: quoted(value.slice(low, high)) });
    }
    return { values: page, total: value.length };
  }

  // Breakpoints

  const TOLD_EACH = 100;
  const RULES = {
    exactly: (count, number) => count === number,
    from: (count, number) => count >= number,
    every: (count, number) => count % number === 0,
  };

  // Each of `wanted` is [id, condition or null, rule or null, number, log or null]; true where one of them stops here.
  function at(wanted) {
    let stops = false;
    for (const [id, condition, rule, number, log] of wanted) {
      try {
        if (condition !== null && !condition()) {
          pass(id);
          continue;
        }
      } catch (error) {
        failed.push([id, told(error)]);
        if (log === null) {
          hits.push(id);
          stops = true;
        }
        continue;
      }
      if (rule !== null) {
        const count = (counts.get(id) || 0) + 1;
        counts.set(id, count);
        if (!RULES[rule](count, number)) {
          pass(id);
          continue;
        }
      }
      if (log !== null) {
        say(id, log);
        continue;
      }
      hits.push(id);
      passes.set(id, -Infinity); // one that has stopped is no riddle any more
      stops = true;
    }
    return stops;
  }

  // How often one was come to that has not stopped yet: told each time at first, later only how large the number is.
  function pass(id) {
    const count = (passes.get(id) || 0) + 1;
    passes.set(id, count);
    if (count > 0 && (count <= TOLD_EACH || Number.isInteger(Math.log10(count)))) tell(JSON.stringify({ id, passed: count }));
  }

  function told(error) {
    return isError(error) ? errorLine(error) : `${typeName(error)} ${new Writer({ text: 80, items: 4 }).text(error, 80, 1)}`;
  }

  // An error, or what is meant for one: of a constructor older than classes, or told by another thread.
  function isError(value) {
    if (typeof value !== 'object' || value === null || isProxy(value)) return false;
    const message = descriptor(value, 'message');
    if (isNativeError(value) || !message || typeof message.value !== 'string') return isNativeError(value);
    let at = value;
    for (let steps = 0; at !== null && !isProxy(at) && steps < 20; steps++, at = prototype(at)) if (at === Error.prototype) return true;
    return false;
  }

  let tell = () => undefined;

  function say(id, log) {
    tell(JSON.stringify({ id, text: log().slice(0, 65536) }));
  }

  function shown(make) {
    let value;
    try {
      value = make();
    } catch (error) {
      return `<${told(error)}>`;
    }
    return typeof value === 'string' ? value : inspect(value, PLAIN);
  }

  function taken_hits() {
    const found = { hits, failed };
    hits = [];
    failed = [];
    return found;
  }

  // Evaluation

  function result(value, name, bounds) {
    return describe(name, value, bounds);
  }

  // Questions of a held program: only then may V8 be asked for what no code can see.
  const asked = (answer) => (...words) => inner.within(() => answer(...words));

  // Whether the module about to be compiled deserves a look before it runs.
  let interest = { maps: false, symbols: [], entry: false, uncaught: false, library: false };

  function loading(content, filename) {
    if (typeof content !== 'string' || typeof filename !== 'string') return false;
    if (interest.library || !filename.includes('/node_modules/')) { // packages have maps, by the hundred
      if (interest.entry || (interest.maps && (content.includes('sourceMappingURL=') || writes(filename)))) return true;
    }
    return defines(content, filename);
  }

  // Whether Node writes another text for what this file says of types, with a source map of its own (--experimental-transform-types).
  function writes(filename) {
    return process.features.typescript === 'transform' && /\.[cm]?ts$/.test(filename);
  }

  // Whether a text may define a function that is wanted, by the last word of its name; a name can be written with escapes, too.
  function defines(content, filename) {
    const isLibrary = filename.includes('/node_modules/'); // packages of a workspace are elsewhere, under another name than their own
    return interest.symbols.some(({ word, module }) =>
      (isLibrary ? (module === null ? interest.library : filename.includes(module)) : true) && (content.includes(word) || content.includes('\\u')));
  }

  // Errors that nobody caught: told where V8 did not foresee it, when the calls that threw are gone.
  const seen = new WeakSet();
  const foreseen = new WeakSet(); // those of them that were told as errors which nobody would catch

  let last; // a thrown value that no set can hold

  function saw(error, isUncaught) {
    if (typeof error !== 'object' || error === null) {
      if (isUncaught) last = { error };
      return;
    }
    seen.add(error);
    if (isUncaught) foreseen.add(error);
  }

  function isForeseen(error) {
    return typeof error === 'object' && error !== null ? foreseen.has(error) : last !== undefined && Object.is(last.error, error);
  }

  function uncaught(error) {
    return error; // a breakpoint stands here
  }

  process.on('uncaughtExceptionMonitor', (error) => {
    if (interest.uncaught && !isForeseen(error)) store.uncaught(error);
  });

  // From Node 21 on V8 makes an error's stack as it is read, by a getter. Once anybody asked for the descriptor of one, Node 22
  // forgets errors that pass through `vm`, as those of -e do, where a debugger holds them: the program then ends with 0.
  const isMade = Number.parseInt(process.versions.node, 10) > 20;

  function stackOf(error) {
    if (isMade && isNativeError(error)) return error.stack;
    return (descriptor(error, 'stack') || {}).value;
  }

  // All that is worth knowing of a thrown value; and a mark that it has been seen.
  function thrown(value, isUncaught) {
    saw(value, isUncaught);
    const found = placed(value, 100000);
    if (!isError(value)) return found;
    const causes = causesOf(value);
    if (causes.length) found.cause = told(causes[0]);
    found.causes = causes.map((each) => (isError(each) ? held(each, placed(each, 20000), 1) : { type: told(each), message: '' }));
    return held(value, found, 1);
  }

  // What is told of an error, with the errors that it holds, each with what it came from and, one deeper, with those that it holds.
  function held(error, found, deeper) {
    const members = descriptor(error, 'errors');
    if (!members || !isArray(members.value) || isProxy(members.value)) return found;
    found.total = members.value.length;
    found.members = members.value.slice(0, 8).map((each) => {
      const row = placed(each, 20000);
      if (!isError(each)) return row;
      const [cause] = causesOf(each);
      if (cause !== undefined) row.cause = told(cause);
      return deeper > 0 ? held(each, row, deeper - 1) : row;
    });
    return found;
  }

  // What an error came from, the nearest first, to the end of the chain or to one that is in it already.
  function causesOf(error) {
    const found = [];
    for (let at = error; isError(at) && found.length < CAUSES;) {
      const cause = descriptor(at, 'cause');
      if (!cause || cause.value === undefined || cause.value === error || found.includes(cause.value)) break;
      found.push(at = cause.value);
    }
    return found;
  }

  // A summary with the error's own account of where it was made.
  function placed(value, most) {
    const found = summary(value);
    const text = isError(value) ? stackOf(value) : undefined;
    if (typeof text === 'string') {
      found.stack = text.slice(0, most);
      found.mapped = isMapped(value);
    }
    return found;
  }

  // Whether an error tells of lines that were written, and not of those that run: Node does so when it is told to, and packages
  // for source maps do so by a function that each world has of its own.
  function isMapped(error) {
    if (process.sourceMapsEnabled) return true;
    for (let at = prototype(error), steps = 0; at !== null && !isProxy(at) && steps < 20; steps++, at = prototype(at)) {
      const made = descriptor(at, 'constructor');
      const known = made && typeof made.value === 'function' && !isProxy(made.value) && descriptor(made.value, 'prepareStackTrace');
      if (known && typeof known.value === 'function') return known.value.name !== 'ErrorPrepareStackTrace'; // Node's own
    }
    return false;
  }

  function summary(value) {
    if (!isError(value)) return { type: typeName(value), message: new Writer({ text: 300, items: 8 }).text(value, 300, 2) };
    const message = descriptor(value, 'message');
    return { type: errorName(value), message: message && typeof message.value === 'string' ? message.value.slice(0, 4000) : '' };
  }

  function isOfJest() {
    return Object.keys(Module._cache).some((file) => OF_JEST.test(file));
  }

  // V8 pauses before a script, and not before a function that `vm.compileFunction` makes of a whole module, as Jest 30 has it.
  function compiles(code, options) {
    if (typeof options !== 'object' || options === null || isProxy(options)) return false;
    const [context, file] = ['parsingContext', 'filename'].map((name) => (descriptor(options, name) || {}).value);
    store.enters(context);
    return loading(code, file);
  }

  const store = {
    load, thrown, uncaught,
    noted: {}, // what further code of ours tells
    at, hits: taken_hits, shown, loading, compiles, defines, writes, hand: inner.hand,
    locals: asked(locals), learn, again: asked(again), names: asked(names), scope: asked(scope), expand: asked(expand), result: asked(result), describe: asked(describe), warm,
    clear: () => { kept = new Map(); },
    forget: (id) => (passes.delete(id), counts.delete(id)),
    interest: (now) => { interest = now; },
    compile: Module.prototype._compile,
    runInContext: load('vm').Script.prototype.runInContext,
    compileFunction: load('vm').compileFunction,
    rewrites: (format) => format.endsWith('typescript'), // the loader takes the types out of it first
    // Our code is reached through the global object, of which a context of `vm` has one of its own.
    enters: (sandbox) => {
      if (typeof sandbox === 'object' && sandbox !== null && (!isProxy(sandbox) || isOfJest()) && !hasOwn.call(sandbox, KEY)) {
        for (const name of ownKeys(sandbox)) if (String(name).startsWith('__stillframe_')) delete sandbox[name];
        Object.defineProperty(sandbox, KEY, { value: store, enumerable: false, configurable: true, writable: false });
      }
      return false;
    },
    take: (name) => {
      const found = globalThis[name];
      if (typeof found === 'function') tell = found;
      delete globalThis[name];
    },
    kept: (number) => kept.get(number),
    chain: (value) => { // names of an exception's classes, nearest first
      const names = [];
      for (let at = value; at !== null && typeof at === 'object' && !isProxy(at) && names.length < 20; at = prototype(at)) {
        const found = hasOwn.call(at, 'constructor') && descriptor(at, 'constructor');
        if (found && typeof found.value === 'function') names.push(found.value.name);
      }
      return { names, known: typeof value === 'object' && value !== null && seen.has(value), foreseen: isForeseen(value) };
    },
  };
  Object.defineProperty(globalThis, KEY, { value: Object.freeze(store), enumerable: false, configurable: true, writable: false });
  return 'ready';
})
