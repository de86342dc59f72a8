'use strict';
// Values as short text, and whether one has changed since it was last looked at; nothing of the program's is run for either.
const fs = require('fs');
const path = require('path');
const util = require('util');
const vm = require('vm');

const { isProxy, isMap, isSet, isDate, isTypedArray, isPromise } = util.types;
const { getOwnPropertyDescriptor: descriptor, is, keys } = Object;
const { isArray } = Array;
const { isFinite: isRatio } = Number;
const apply = Reflect.apply;
const { forEach: eachOfMap } = Map.prototype;
const { forEach: eachOfSet } = Set.prototype;
const { getTime } = Date.prototype;
const lengthOf = descriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length').get;

const DEEP = 2; // levels below a value in which a change is seen
const WIDE = 32; // and so many parts of each, from either end
const MOST = 160; // and so many in all
const END = Symbol('end');
const GETTER = Symbol('getter');

// What only an inspector knows is not asked for here: private fields are said to be there, and no more.
const inner = { privates: (value) => (hasPrivates(value) ? undefined : []), settled: () => [] };
const file = path.join(__dirname, '..', 'values.js');
const values = vm.runInThisContext(fs.readFileSync(file, 'utf8'), { filename: file })(require, inner);

const classes = new WeakMap();
function hasPrivates(value) {
  const made = descriptor(Object.getPrototypeOf(value) || {}, 'constructor');
  const owner = made && made.value;
  if (typeof owner !== 'function' || isProxy(owner)) return false;
  if (!classes.has(owner)) classes.set(owner, /^class[^]*#/.test(apply(Function.prototype.toString, owner, [])));
  return classes.get(owner);
}

function text(value, room) {
  switch (typeof value) {
    case 'number': return is(value, -0) ? '-0' : String(value);
    case 'boolean':
    case 'undefined': return String(value);
    case 'string': if (value.length + 2 <= room) return values.quoted(value);
  }
  try {
    return new values.Writer({ items: 12 }).text(value, room, 3);
  } catch (error) { // nothing that a program holds may break it by being looked at
    return `<${typeof value}>`;
  }
}

function typeOf(value) {
  try {
    return values.typeName(value);
  } catch (error) {
    return typeof value;
  }
}

function thrown(value, room) {
  if (util.types.isNativeError(value)) {
    const line = values.errorLine(value);
    return line.length > room ? `${line.slice(0, room - 1)}…` : line;
  }
  return text(value, room);
}

// What a value is made of, as a list that is equal to a later one as long as nothing in there has changed.
function shot(value) {
  const found = [];
  look(value, DEEP, found);
  return found;
}

function look(value, depth, found) {
  if (isProxy(value) || isPromise(value)) return;
  if (isArray(value)) lookAt(value.length, value, depth, found);
  else if (isTypedArray(value)) lookAt(apply(lengthOf, value, []), value, 0, found);
  else if (isMap(value)) apply(eachOfMap, value, [(item, key) => found.length < MOST && found.push(key) && take(item, depth, found)]);
  else if (isSet(value)) apply(eachOfSet, value, [(item) => found.length < MOST && take(item, depth, found)]);
  else if (isDate(value)) found.push(apply(getTime, value, []));
  else lookInto(value, depth, found);
  found.push(END);
}

function lookAt(length, value, depth, found) {
  found.push(length);
  const whole = length <= 2 * WIDE;
  for (let at = 0; at < (whole ? length : WIDE); at++) take(value[at], depth, found);
  if (!whole) for (let at = length - WIDE; at < length; at++) take(value[at], depth, found);
}

function lookInto(value, depth, found) {
  const names = keys(value);
  const end = names.length < WIDE ? names.length : WIDE;
  found.push(names.length);
  for (let at = 0; at < end; at++) {
    const known = descriptor(value, names[at]);
    found.push(names[at]);
    if (known && 'value' in known) take(known.value, depth, found);
    else found.push(GETTER);
  }
}

function take(value, depth, found) {
  found.push(value);
  if (depth > 1 && typeof value === 'object' && value !== null && found.length < MOST) look(value, depth - 1, found);
}

function same(one, other) {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at] && !is(one[at], other[at])) return false;
  return true;
}

module.exports = { isRatio, same, shot, text, thrown, typeOf };
