// Evaluated in every Node target: values as bounded text without running the program's code, conditions, hit counts, logs.
//
// It lives under a symbol of the global object that no enumeration shows. Getters are not run, proxies are not asked, and
// nothing is walked beyond its bounds, so that every answer comes soon. All built-in functions are taken before the
// program could replace them.
(function (load) {
  'use strict';
  const KEY = Symbol.for('stillframe');
  if (globalThis[KEY]) return 'known';

  const util = load('util');
  const { isProxy, isMap, isSet, isDate, isRegExp, isNativeError, isPromise, isTypedArray, isModuleNamespaceObject } =
    util.types;
  const apply = Reflect.apply;
  const descriptor = Object.getOwnPropertyDescriptor;
  const prototype = Object.getPrototypeOf;
  const isArray = Array.isArray;
  const ownKeys = Reflect.ownKeys;
  const mapEntries = Map.prototype.entries;
  const setValues = Set.prototype.values;
  const mapSize = descriptor(Map.prototype, 'size').get;
  const setSize = descriptor(Set.prototype, 'size').get;
  const typedLength = descriptor(prototype(Uint8Array.prototype), 'length').get;
  const mapNext = prototype(new Map().entries()).next;
  const setNext = prototype(new Set().values()).next;
  const isoDate = Date.prototype.toISOString;
  const timeOf = Date.prototype.getTime;
  const regexText = RegExp.prototype.toString;
  const functionText = Function.prototype.toString;
  const inspect = util.inspect;
  const hasOwn = Object.prototype.hasOwnProperty;

  const MORE = '…';
  const DEPTH = 3;
  const PLAIN = { depth: 0, customInspect: false, showProxy: true, getters: false, breakLength: Infinity, maxArrayLength: 4, maxStringLength: 80 };
  const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
  const CJS = new Set(['exports', 'require', 'module', '__filename', '__dirname', 'arguments']);
  const BUILTIN = new Set(load('module').builtinModules);

  // What Node's own tracking of asynchronous calls leaves on promises while an inspector is there.
  const TRACKED = /,? ?\[Symbol\((?:async_id_symbol|trigger_async_id_symbol|destroyed)\)\]: (?:\d+|\{[^}]*\}|\[[^\]]*\])/g;
  const TRACKS = new Set(['async_id_symbol', 'trigger_async_id_symbol', 'destroyed']);

  let kept = new Map();
  let numbers = 0;
  const counts = new Map();
  let hits = [];
  let failed = [];

  // Text

  function quoted(text) {
    const body = JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'");
    return `'${body}'`;
  }

  function className(value) {
    for (let at = value, hops = 0; at !== null && hops < 20; at = prototype(at), hops++) {
      if (isProxy(at)) return '';
      const found = descriptor(at, 'constructor');
      if (found && typeof found.value === 'function') {
        const name = descriptor(found.value, 'name');
        return name && typeof name.value === 'string' ? name.value : '';
      }
    }
    return '';
  }

  function typeName(value) {
    if (value === null) return 'null';
    if (typeof value !== 'object') return typeof value;
    if (isProxy(value)) return 'Proxy';
    return className(value) || 'Object';
  }

  class Writer {
    constructor(bounds) {
      this.bounds = bounds;
      this.cut = false;
      this.path = [];
    }

    text(value, room, depth) {
      if (room <= 0) return this.more();
      switch (typeof value) {
        case 'string': return this.string(value, room);
        case 'number': return Object.is(value, -0) ? '-0' : String(value);
        case 'bigint': return this.short(`${value > 2n ** 4096n || value < -(2n ** 4096n) ? '<huge>' : value}n`, room);
        case 'symbol': return this.short(String(value), room);
        case 'function': return this.short(this.callable(value), room);
        case 'object': return value === null ? 'null' : this.object(value, room, depth);
        default: return String(value); // undefined, booleans
      }
    }

    more() {
      this.cut = true;
      return MORE;
    }

    short(text, room) {
      if (text.length <= room) return text;
      this.cut = true;
      return text.slice(0, Math.max(room - 1, 0)) + MORE;
    }

    string(value, room) {
      if (value.length + 2 <= room) {
        const whole = quoted(value);
        if (whole.length <= room) return whole;
      }
      this.cut = true;
      return quoted(value.slice(0, Math.max(room - 3, 1))).slice(0, Math.max(room - 2, 2)).replace(/\\+$/, '').replace(/'?$/, "'") + MORE;
    }

    callable(value) {
      if (isProxy(value)) return '[Function: proxy]';
      const name = descriptor(value, 'name');
      const own = name && typeof name.value === 'string' && name.value ? name.value : '(anonymous)';
      const source = apply(functionText, value, []);
      return source.startsWith('class') ? `[class ${own}]` : `[Function: ${own}]`;
    }

    object(value, room, depth) {
      if (isProxy(value)) return this.short(inspect(value, PLAIN), room);
      if (this.path.includes(value)) return '[Circular]';
      this.path.push(value);
      try {
        return this.compound(value, room, depth);
      } finally {
        this.path.pop();
      }
    }

    compound(value, room, depth) {
      const name = className(value);
      if (isArray(value)) return this.array(value, value.length, name === 'Array' ? '[' : `${name}(${value.length}) [`, room, depth);
      if (isTypedArray(value)) return this.array(value, apply(typedLength, value, []), `${name} [`, room, depth);
      if (isMap(value)) return this.map(value, name, room, depth);
      if (isSet(value)) return this.set(value, name, room, depth);
      if (isDate(value)) return this.short(isNaN(apply(timeOf, value, [])) ? 'Invalid Date' : apply(isoDate, value, []), room);
      if (isRegExp(value)) return this.short(apply(regexText, value, []), room);
      if (isNativeError(value)) return this.short(errorLine(value), room);
      if (isExotic(value)) return this.short(oneLine(inspect(value, PLAIN)), room);
      return this.fields(value, name, room, depth);
    }

    array(value, length, open, room, depth) {
      const one = (index, left, deeper) => {
        const found = descriptor(value, index);
        if (!found) return '<empty>';
        return 'value' in found ? this.text(found.value, left, deeper) : '<getter>';
      };
      return open + this.walk(countTo(Math.min(length, this.bounds.items)), length, room - open.length - 1, depth, one) + ']';
    }

    map(value, name, room, depth) {
      const size = apply(mapSize, value, []);
      const open = `${name || 'Map'}(${size}) {`;
      const pair = ([key, item], left, deeper) => {
        const word = this.text(key, Math.max(left >> 1, 8), deeper);
        return `${word} => ${this.text(item, left - word.length - 4, deeper)}`;
      };
      return open + this.walk(entriesOf(value, 0, this.bounds.items), size, room - open.length - 1, depth, pair) + '}';
    }

    set(value, name, room, depth) {
      const size = apply(setSize, value, []);
      const open = `${name || 'Set'}(${size}) {`;
      const one = (item, left, deeper) => this.text(item, left, deeper);
      return open + this.walk(membersOf(value, 0, this.bounds.items), size, room - open.length - 1, depth, one) + '}';
    }

    fields(value, name, room, depth) {
      const keys = fieldsOf(value);
      const open = name === 'Object' ? '{' : name ? `${name} {` : prototype(value) === null ? '[Object: null prototype] {' : '{';
      const pair = (key, left, deeper) => {
        const word = keyText(key);
        const found = descriptor(value, key);
        if (!found) return `${word}: <gone>`;
        return `${word}: ${'value' in found ? this.text(found.value, left - word.length - 2, deeper) : '<getter>'}`;
      };
      return open + this.walk(keys.slice(0, this.bounds.items), keys.length, room - open.length - 1, depth, pair) + '}';
    }

    walk(items, length, room, depth, one) {
      if (length && depth <= 0) return this.more();
      const parts = [];
      let used = 0;
      for (const item of items) {
        const left = room - used - (parts.length ? 2 : 0);
        if (left < 4 && length > parts.length) break;
        const text = one(item, left - (length > parts.length + 1 ? 3 : 0), depth - 1);
        parts.push(text);
        used += text.length + 2;
      }
      if (parts.length < length) parts.push(this.more());
      return parts.join(', ');
    }
  }

  function oneLine(text) {
    return text.replace(TRACKED, '').replace(/\n\s+at [^\n]*/g, '').replace(/\s*\n\s*/g, ' ');
  }

  function isExotic(value) {
    return isPromise(value) || isModuleNamespaceObject(value) || util.types.isBoxedPrimitive(value) || util.types.isWeakMap(value)
      || util.types.isWeakSet(value) || util.types.isGeneratorObject(value) || util.types.isAnyArrayBuffer(value)
      || util.types.isMapIterator(value) || util.types.isSetIterator(value) || util.types.isExternal(value);
  }

  function errorLine(value) {
    const message = descriptor(value, 'message');
    const text = message && typeof message.value === 'string' ? message.value : '';
    const name = errorName(value);
    return text ? `${name}: ${text}` : name;
  }

  function errorName(value) {
    const own = descriptor(value, 'name');
    if (own && typeof own.value === 'string') return own.value;
    return className(value) || 'Error';
  }

  function keyText(key) {
    if (typeof key === 'symbol') return `[${String(key)}]`;
    return NAME.test(key) || /^\d+$/.test(key) ? key : quoted(key);
  }

  function countTo(end) {
    const found = [];
    for (let at = 0; at < end; at++) found.push(at);
    return found;
  }

  function entriesOf(value, start, count) {
    return taken(apply(mapEntries, value, []), mapNext, start, count);
  }

  function membersOf(value, start, count) {
    return taken(apply(setValues, value, []), setNext, start, count);
  }

  function taken(iterator, next, start, count) {
    const found = [];
    for (let at = 0; at < start + count; at++) {
      const step = apply(next, iterator, []);
      if (step.done) break;
      if (at >= start) found.push(step.value);
    }
    return found;
  }

  function fieldsOf(value) {
    // Hidden ones are the machinery of classes and modules; those of symbols are told where the program can enumerate them.
    return ownKeys(value).filter((key) => {
      if (typeof key === 'symbol' ? TRACKS.has(key.description) : key.startsWith('__stillframe_')) return false;
      const found = descriptor(value, key);
      return found && found.enumerable;
    });
  }

  function totalOf(value) {
    if (typeof value === 'string') return value.length;
    if (typeof value !== 'object' || value === null || isProxy(value)) return undefined;
    if (isArray(value)) return value.length;
    if (isTypedArray(value)) return apply(typedLength, value, []);
    if (isMap(value)) return apply(mapSize, value, []);
    if (isSet(value)) return apply(setSize, value, []);
    return undefined;
  }

  function hasMore(value) {
    return typeof value === 'string' || (typeof value === 'object' && value !== null && !isProxy(value));
  }

  function describe(name, value, bounds) {
    const writer = new Writer(bounds);
    const told = { name, type: typeName(value), value: writer.text(value, bounds.text, DEPTH) };
    const total = totalOf(value);
    if (total !== undefined) told.total = total;
    if (writer.cut) {
      told.truncated = true;
      if (hasMore(value)) told.ref = keep(value);
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
        continue;
      }
      if (known) found.push([name, known]);
    }
    return found;
  }

  // What a module has of other modules is no state of the program.
  function isModule(name, value) {
    if (typeof value !== 'object' || value === null || isProxy(value)) return false;
    if (isModuleNamespaceObject(value)) return true;
    if (BUILTIN.has(name)) return load(name) === value;
    const loaded = load('module')._cache;
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
      for (const [name, known] of variables(scope)) {
        if (seen.has(name) || (kinds[index] !== 'own' && CJS.has(name))) continue;
        if (kinds[index] === 'used' && !mentioned.includes(name)) continue;
        if (kinds[index] !== 'own' && (typeof known.value === 'function' || isModule(name, known.value))) continue;
        if (name === 'arguments' && !mentioned.includes(name)) continue;
        seen.add(name);
        rows.push([name, known, kinds[index] === 'outer' || kinds[index] === 'used' ? 1 : 0]);
      }
    });
    if (hasSelf(self)) rows.push(['this', { value: self }, 0]);
    const ordered = rows.map((row, index) => [row[2] * 1000 + rank(row[0], used), index, row]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const page = ordered.slice(start, start + count).map(([, , [name, known]]) => row(name, known, bounds));
    return { values: page, total: rows.length };
  }

  function hasSelf(self) {
    if (self === null || typeof self !== 'object' || self === globalThis) return false;
    if (isProxy(self)) return true;
    return !(className(self) === 'Object' && fieldsOf(self).length === 0);
  }

  function row(name, known, bounds) {
    if ('value' in known) return describe(name, known.value, bounds);
    return { name, type: 'getter', value: '<getter>' };
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
    if (isArray(value) || isTypedArray(value)) {
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
      return { values: page, total: apply(mapSize, value, []) };
    }
    if (isSet(value)) {
      const page = membersOf(value, start, count).map((item, index) => describe(`[${start + index}]`, item, bounds));
      return { values: page, total: apply(setSize, value, []) };
    }
    const keys = isNativeError(value) ? ownKeys(value) : fieldsOf(value);
    return { values: keys.slice(start, start + count).map((key) => row(keyText(key), descriptor(value, key), bounds)), total: keys.length };
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
        if (condition !== null && !condition()) continue;
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
        if (!RULES[rule](count, number)) continue;
      }
      if (log !== null) {
        say(id, log);
        continue;
      }
      hits.push(id);
      stops = true;
    }
    return stops;
  }

  function told(error) {
    return isNativeError(error) && !isProxy(error) ? errorLine(error) : `${typeName(error)} ${new Writer({ text: 80, items: 4 }).text(error, 80, 1)}`;
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
    return typeof value === 'string' ? value : inspect(value, { ...PLAIN, depth: 2, maxStringLength: 1000, maxArrayLength: 100 });
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

  function error(value) {
    return told(value);
  }

  // Whether the module about to be compiled deserves a look before it runs.
  let interest = { maps: false, symbols: false, entry: false, uncaught: false, library: false };

  function loading(content, filename) {
    if (typeof content !== 'string' || typeof filename !== 'string') return false;
    if (interest.maps && content.includes('sourceMappingURL=')) return true;
    return (interest.symbols || interest.entry) && (interest.library || !filename.includes('/node_modules/'));
  }

  // Errors that nobody caught: told where V8 did not foresee it, when the calls that threw are gone.
  const seen = new WeakSet();

  let last; // a thrown value that no set can hold

  function saw(error) {
    if (typeof error === 'object' && error !== null) seen.add(error);
    else last = { error };
  }

  function isKnown(error) {
    return typeof error === 'object' && error !== null ? seen.has(error) : last !== undefined && Object.is(last.error, error);
  }

  function uncaught(error) {
    return error; // a breakpoint stands here
  }

  process.on('uncaughtExceptionMonitor', (error) => {
    if (interest.uncaught && !isKnown(error)) store.uncaught(error);
  });

  // All that is worth knowing of a thrown value; and a mark that it has been seen.
  function thrown(value) {
    saw(value);
    const found = summary(value);
    if (!isNativeError(value) || isProxy(value)) return found;
    const stack = descriptor(value, 'stack');
    const text = stack && typeof stack.value === 'string' ? stack.value : stack && stack.get ? value.stack : '';
    if (typeof text === 'string') found.stack = text.slice(0, 100000);
    const cause = descriptor(value, 'cause');
    if (cause && cause.value !== undefined) found.cause = told(cause.value);
    const members = descriptor(value, 'errors');
    if (members && isArray(members.value) && !isProxy(members.value)) {
      found.members = members.value.slice(0, 8).map(summary);
      found.total = members.value.length;
    }
    return found;
  }

  function summary(value) {
    if (!isNativeError(value) || isProxy(value)) return { type: typeName(value), message: new Writer({ text: 300, items: 8 }).text(value, 300, 2) };
    const message = descriptor(value, 'message');
    return { type: errorName(value), message: message && typeof message.value === 'string' ? message.value.slice(0, 4000) : '' };
  }

  const store = {
    thrown, uncaught,
    at, hits: taken_hits, locals, scope, expand, result, error, shown, loading, describe,
    clear: () => { kept = new Map(); },
    forget: (id) => counts.delete(id),
    interest: (now) => { interest = now; },
    compile: load('module').prototype._compile,
    runInContext: load('vm').Script.prototype.runInContext,
    rewrites: (format) => format.endsWith('typescript'), // the loader takes the types out of it first
    // Our code is reached through the global object, of which a context of `vm` has one of its own.
    enters: (sandbox) => {
      if (typeof sandbox === 'object' && sandbox !== null && !isProxy(sandbox) && !hasOwn.call(sandbox, KEY)) {
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
      return { names };
    },
  };
  Object.defineProperty(globalThis, KEY, { value: Object.freeze(store), enumerable: false, configurable: true, writable: false });
  return 'ready';
})(typeof require === 'function' ? require : (name) => process.getBuiltinModule(name));
