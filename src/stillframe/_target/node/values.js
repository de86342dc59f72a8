// Values as bounded text, without running the program's code: getters are not run, proxies are not asked, and nothing is walked
// beyond its bounds, so that every answer comes soon. All built-in functions are taken before the program could replace them.
(function (load, inner, stateOf) {
  'use strict';
  const util = load('util');
  const { isProxy, isMap, isSet, isDate, isRegExp, isNativeError, isPromise, isTypedArray, isModuleNamespaceObject,
    isArgumentsObject, isGeneratorObject } = util.types;
  const apply = Reflect.apply;
  const descriptor = Object.getOwnPropertyDescriptor;
  const isEnumerable = Object.prototype.propertyIsEnumerable;
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

  const MORE = '…';
  const PLAIN = { depth: 0, customInspect: false, showProxy: true, getters: false, breakLength: Infinity, maxArrayLength: 4, maxStringLength: 80 };
  const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
  const COMMON = /^(?:[A-Za-z_$][\w$]*|\d+)$/; // of names and numbers: most are, and the other pattern takes its time
  const ODD = /[^ !#-&(-[\]-~]/; // what cannot stand between quotes as it is
  const PROTOTYPE = Object.prototype;

  // What Node's own tracking of asynchronous calls leaves on promises while an inspector is there.
  const TRACKED = /,? ?\[Symbol\((?:async_id_symbol|trigger_async_id_symbol|destroyed)\)\]: (?:\d+|\{[^}]*\}|\[[^\]]*\])/g;
  const TRACKS = new Set([
    'async_id_symbol', 'trigger_async_id_symbol', 'destroyed',
    'kEvents', 'kHandlers', 'events.maxEventTargetListeners', 'events.maxEventTargetListenersWarned', 'kCapture', 'shapeMode', // of whatever has listeners
  ]);

  // Text

  function quoted(text) {
    if (!ODD.test(text)) return `'${text}'`;
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
        case 'function': return this.callable(value, room, depth);
        case 'object': return value === null ? 'null' : this.object(value, room, depth);
        default: return String(value); // undefined, booleans
      }
    }

    more() {
      this.cut = true;
      return MORE;
    }

    // What stands for the items that are left out.
    rest(left) {
      return this.more();
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

    callable(value, room, depth) {
      if (isProxy(value)) return this.short('[Function: proxy]', room);
      const name = descriptor(value, 'name');
      const own = name && typeof name.value === 'string' && name.value ? name.value : '(anonymous)';
      const source = apply(functionText, value, []);
      const line = source.startsWith('class') ? `[class ${own}]` : `[Function: ${own}]`;
      if (depth < 2 || line.length + 12 > room || this.path.includes(value) || !(fieldsOf(value).length || /\bstatic\s+#/.test(source))) return this.short(line, room);
      this.path.push(value);
      try {
        return `${line} ${this.fields(value, 'Object', room - line.length - 1, 1)}`; // statics, and what was put on a function
      } finally {
        this.path.pop();
      }
    }

    object(value, room, depth) {
      if (this.path.includes(value)) return '[Circular]';
      this.path.push(value);
      try {
        return isProxy(value) ? this.proxy(value, room, depth) : this.compound(value, room, depth);
      } finally {
        this.path.pop();
      }
    }

    compound(value, room, depth) {
      const name = className(value);
      if (isArray(value)) return this.array(value, value.length, name === 'Array' ? '[' : `${name}(${value.length}) [`, room, depth);
      if (isTypedArray(value)) return this.typed(value, name, room, depth);
      if (isMap(value)) return this.map(value, name, room, depth);
      if (isSet(value)) return this.set(value, name, room, depth);
      if (isDate(value)) return this.short(isNaN(apply(timeOf, value, [])) ? 'Invalid Date' : apply(isoDate, value, []), room);
      if (isRegExp(value)) return this.short(apply(regexText, value, []), room);
      if (isNativeError(value)) return this.error(value, room, depth);
      if (isPromise(value)) return this.promise(value, room, depth);
      if (isArgumentsObject(value)) return this.array(value, lengthOf(value), '[Arguments] [', room, depth);
      if (isGeneratorObject(value)) return this.generator(value, room);
      if (isExotic(value)) return this.short(oneLine(inspect(value, PLAIN)), room);
      return this.fields(value, name, room, depth);
    }

    array(value, length, open, room, depth) {
      const one = (index, left, deeper) => {
        const found = descriptor(value, index);
        if (!found) return '<empty>';
        const text = 'value' in found ? this.text(found.value, left, deeper) : accessor(found);
        return typeof index === 'string' ? `${index}: ${text}` : text;
      };
      const more = isArray(value) && length <= this.bounds.items ? namedFields(value) : [];
      const items = [...countTo(Math.min(length, this.bounds.items)), ...more];
      return open + this.walk(items, length + more.length, room - open.length - 1, depth, one) + ']';
    }

    typed(value, name, room, depth) {
      const length = apply(typedLength, value, []);
      return this.array(value, length, `${name}(${length}) [`, room, depth);
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
      const plain = prototype(value) === PROTOTYPE; // as most are: neither state nor private fields
      const known = plain ? undefined : stateOf(value);
      const state = known || [];
      const keys = known ? fieldsBeside(known, value) : fieldsOf(value);
      const inside = plain || known ? [] : this.privates(value);
      if (!known && !keys.length && !inside.length && isOpaque(value, name)) return this.short(`[${tagOf(value) || name}]`, room);
      const open = name === 'Object' ? '{' : name ? `${name} {` : prototype(value) === null ? '[Object: null prototype] {' : '{';
      const pair = (key, left, deeper) => {
        if (isArray(key)) return key.length === 1 ? key[0] : `${key[0]}: ${this.text(key[1], left - key[0].length - 2, deeper)}`;
        const word = keyText(key);
        const found = descriptor(value, key);
        if (!found) return `${word}: <gone>`;
        return `${word}: ${'value' in found ? this.text(found.value, left - word.length - 2, deeper) : accessor(found)}`;
      };
      const all = [...state, ...keys.slice(0, this.bounds.items), ...inside];
      return open + this.walk(all, state.length + keys.length + inside.length, room - open.length - 1, depth, pair) + '}';
    }

    privates(value) {
      const found = inner.privates(value);
      if (found !== undefined) return found;
      this.cut = true;
      return [['#' + MORE]];
    }

    error(value, room, depth) {
      const line = errorLine(value);
      const keys = fieldsOf(value).filter((key) => key !== 'name' && key !== 'message' && key !== 'stack');
      const held = ['cause', 'errors'].filter((key) => !keys.includes(key) && (descriptor(value, key) || {}).value !== undefined);
      if (!(keys.length + held.length) || line.length + 12 > room) return this.short(line, room);
      const fields = Object.create(null);
      for (const key of [...keys, ...held]) Object.defineProperty(fields, key, { ...descriptor(value, key), enumerable: true });
      return `${line} ${this.fields(fields, 'Object', room - line.length - 1, Math.min(depth, 2))}`;
    }

    promise(value, room, depth) {
      const known = oneLine(inspect(value, PLAIN));
      const found = /\[[A-Z][^\]]*\]/.test(known) && depth > 0 ? inner.settled(value) : [];
      if (!found.length) return this.short(known, room);
      const open = known.replace(/(\{ (?:<rejected> )?).*$/, '$1');
      return open + this.text(found[0], room - open.length - 2, depth - 1) + ' }';
    }

    // What it stands before, as it is: no trap of it is asked.
    proxy(value, room, depth) {
      const found = inner.proxied(value);
      return found.length && room > 12 ? `Proxy of ${this.text(found[0][1], room - 9, depth)}` : this.short(inspect(value, PLAIN), room);
    }

    generator(value, room) {
      const [state, made] = inner.generated(value);
      const name = typeof made === 'function' ? descriptor(made, 'name') : undefined;
      const told = name && typeof name.value === 'string' && name.value ? `: ${name.value}` : '';
      return this.short(`[${tagOf(value) || 'Generator'}${told}${state ? `, ${state}` : ''}]`, room);
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
      if (parts.length < length) parts.push(this.rest(length - parts.length));
      return parts.join(', ');
    }
  }

  function accessor(found) {
    return found.get ? '<getter>' : '<setter>';
  }

  // A count as people read it: 1,200.
  function grouped(count) {
    return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
  }

  function oneLine(text) {
    return text.replace(TRACKED, '').replace(/\n\s+at [^\n]*/g, '').replace(/\s*\n\s*/g, ' ');
  }

  // Whether what it holds can be seen by nobody, so that no fields do not mean that it is empty.
  function isOpaque(value, name) {
    if (prototype(value) === null) return false;
    if (name === 'Object' || name === '') return tagOf(value) !== '';
    for (let at = prototype(value), hops = 0; at !== null && hops < 20 && !isProxy(at); at = prototype(at), hops++) {
      const made = descriptor(at, 'constructor');
      if (made && typeof made.value === 'function' && !isProxy(made.value)) return made.value !== Object && apply(functionText, made.value, []).endsWith('{ [native code] }');
    }
    return false;
  }

  function tagOf(value) {
    for (let at = value, hops = 0; at !== null && hops < 20 && !isProxy(at); at = prototype(at), hops++) {
      const found = descriptor(at, Symbol.toStringTag);
      if (found) return typeof found.value === 'string' ? found.value : '';
    }
    return '';
  }

  function lengthOf(value) {
    const known = descriptor(value, 'length');
    return known && typeof known.value === 'number' && known.value >= 0 ? known.value : 0;
  }

  function isExotic(value) {
    return isModuleNamespaceObject(value) || util.types.isBoxedPrimitive(value) || util.types.isWeakMap(value)
      || util.types.isWeakSet(value) || util.types.isAnyArrayBuffer(value)
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
    return COMMON.test(key) || NAME.test(key) ? key : quoted(key);
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
      return apply(isEnumerable, value, [key]); // no descriptor: of an error's stack that is not free of consequences (`stackOf`)
    });
  }

  // What a value of a built-in class has besides its state: what was put on it last first, and what calls itself inner last.
  function fieldsBeside(state, value) {
    const told = new Set(state.map(([name]) => name));
    const keys = fieldsOf(value).filter((key) => typeof key === 'string' && !told.has(key)).reverse();
    return [...keys.filter((key) => !key.startsWith('_')), ...keys.filter((key) => key.startsWith('_'))];
  }

  // What an array has besides its items.
  function namedFields(value) {
    if (ownKeys(value).at(-1) === 'length') return []; // items come first, then names as they were given: this was the first
    return fieldsOf(value).filter((key) => typeof key === 'string' && !/^\d+$/.test(key));
  }

  function totalOf(value) {
    if (typeof value === 'string') return value.length;
    if (typeof value !== 'object' || value === null || isProxy(value)) return undefined;
    if (isArray(value)) return value.length;
    if (isTypedArray(value)) return apply(typedLength, value, []);
    if (isMap(value)) return apply(mapSize, value, []);
    if (isSet(value)) return apply(setSize, value, []);
    if (isArgumentsObject(value)) return lengthOf(value);
    return undefined;
  }

  function hasMore(value) {
    return typeof value === 'string' || ((typeof value === 'object' || typeof value === 'function') && value !== null);
  }

  return {
    Writer, typeName, className, errorLine, errorName, keyText, entriesOf, membersOf, fieldsOf, fieldsBeside, totalOf, hasMore, quoted,
    grouped, accessor,
  };
})
