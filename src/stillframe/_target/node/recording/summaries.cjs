'use strict';
// Values as short text, and whether one has changed since it was last looked at; nothing of the program's is run for either.
const fs = require('fs');
const path = require('path');
const util = require('util');
const vm = require('vm');

const { isProxy, isMap, isSet, isDate, isTypedArray, isPromise } = util.types;
const { getOwnPropertyDescriptor: descriptor, is, keys } = Object;
const { isArray } = Array;
const apply = Reflect.apply;
const { forEach: eachOfMap } = Map.prototype;
const { forEach: eachOfSet } = Set.prototype;
const { getTime } = Date.prototype;
const sizeOfMap = descriptor(Map.prototype, 'size').get;
const sizeOfSet = descriptor(Set.prototype, 'size').get;
const lengthOf = descriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length').get;

const WIDE = 4096; // parts of a value in which a change is seen, half of them at either end
const BELOW = 32; // and so many parts of each part
const MOST = 160; // as long as there are no more of these in all
const limits = { passed: false }; // whether a value was larger
const END = Symbol('end');
const GETTER = Symbol('getter');

// What only an inspector knows is not asked for here: private fields are said to be there, and no more.
const inner = { privates: (value) => (hasPrivates(value) ? undefined : []), settled: () => [], proxied: () => [], generated: () => [] };
const values = shared('values')(require, inner, shared('states')(require));
const shapeOf = shared('shapes')(require, values);
const LAST = /( more)([\]}])$/; // where a text ends that does not tell all items
const WORDS = 160; // characters about all of a value
const looks = { left: 2000000 }; // items that are looked through in all to say what long values are like; then the first ones alone are told

// Code that a debugged program is asked by, too.
function shared(name) {
  const file = path.join(__dirname, '..', `${name}.js`);
  return vm.runInThisContext(fs.readFileSync(file, 'utf8'), { filename: file });
}

const COUNT = 16; // characters that the number of what was left out may take

// What is left out of the outermost value is counted: there is no asking for more of it later.
class Recorded extends values.Writer {
  constructor(outermost) {
    super(BOUNDS);
    this.outermost = outermost;
  }

  rest(left) {
    const more = this.more();
    return this.path.length === 1 ? `${more} ${values.grouped(left)} more` : more;
  }

  fields(value, name, room, depth) {
    if (value === this.outermost) ordinary.add(value);
    return super.fields(value, name, room, depth);
  }
}

const BOUNDS = { items: 12 };
const MARGIN = 12; // as much as the writer may keep free for what it has yet to write
const NAME = /^[A-Za-z_$][\w$]*$/;
const PROTOTYPE = Object.prototype;
const { getPrototypeOf: prototype } = Object;
const { ownKeys } = Reflect;
const ordinary = new WeakSet(); // objects told more than once that turned out to be of no built-in class, which they stay

function written(value, room, isAgain) {
  const writer = new Recorded(isAgain ? value : undefined);
  const told = writer.text(value, room, 3);
  return typeof value === 'string' && writer.cut ? `${told} of ${values.grouped(value.length)}` : told;
}

const isAtom = (value) => value === null || !/^(object|function|symbol|bigint)$/.test(typeof value);

// An object of few parts, all of them atoms, as the writer would write it: what is changed again and again is mostly such a one.
// Undefined where there is more to it, or where it may not fit.
function plainly(value, room) {
  if (prototype(value) !== PROTOTYPE) return undefined;
  const names = ownKeys(value);
  let told = '';
  if (names.length === 0 || names.length > BOUNDS.items) return undefined;
  for (let at = 0; at < names.length; at++) {
    const name = names[at];
    if (typeof name !== 'string' || !NAME.test(name)) return undefined;
    const found = descriptor(value, name);
    if (!found.enumerable || !('value' in found) || !isAtom(found.value) || told.length > room) return undefined;
    told += `${at ? ', ' : ''}${name}: ${found.value === null ? 'null' : text(found.value, room)}`;
  }
  return told.length + MARGIN <= room ? `{${told}}` : undefined;
}

const classes = new WeakMap();
function hasPrivates(value) {
  const made = descriptor(Object.getPrototypeOf(value) || {}, 'constructor');
  const owner = made && made.value;
  if (typeof owner !== 'function' || isProxy(owner)) return false;
  if (!classes.has(owner)) classes.set(owner, /^class[^]*#/.test(apply(Function.prototype.toString, owner, [])));
  return classes.get(owner);
}

// `isAgain`: an object that was told before, and has changed since.
function text(value, room, isAgain = false) {
  switch (typeof value) {
    case 'number': return is(value, -0) ? '-0' : String(value);
    case 'boolean':
    case 'undefined': return String(value);
    case 'string': if (value.length + 2 <= room) return values.quoted(value);
  }
  try {
    const short = isAgain && ordinary.has(value) ? plainly(value, room) : undefined;
    if (short !== undefined) return short;
    const told = written(value, room, isAgain);
    return told.length <= room ? told : written(value, room - COUNT, isAgain);
  } catch (error) { // nothing that a program holds may break it by being looked at
    return `<${typeof value}>`;
  }
}

// The text, and what all of it is like where it is long: beyond the characters of a value.
function summed(value, room) {
  const told = text(value, room);
  if (typeof value !== 'object' || !LAST.test(told)) return told;
  const like = shape(value);
  return like ? told.replace(LAST, (whole, more, end) => `${more} (${like.length > WORDS ? `${like.slice(0, WORDS - 1)}…` : like})${end}`) : told;
}

function shape(value) {
  try {
    const cost = values.totalOf(value) || 0;
    if (cost > looks.left) return undefined;
    looks.left -= cost;
    return shapeOf(value);
  } catch (error) { // nothing that a program holds may break it by being looked at
    return undefined;
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
  const parts = [];
  look(value, WIDE, found, parts);
  let left = MOST;
  for (const each of parts) {
    const before = found.length;
    look(each, BELOW, found, undefined);
    left -= found.length - before;
    if (left <= 0) break;
  }
  return found;
}

// The parts of a value; those that have parts themselves are put aside.
function look(value, most, found, parts) {
  if (isProxy(value) || isPromise(value)) return;
  const take = (part) => {
    found.push(part);
    if (parts !== undefined && typeof part === 'object' && part !== null && parts.length < MOST) parts.push(part);
  };
  if (isArray(value)) lookAt(value.length, value, most, found, take);
  else if (isTypedArray(value)) lookAt(apply(lengthOf, value, []), value, most, found, take);
  else if (isMap(value)) lookThrough(apply(sizeOfMap, value, []), eachOfMap, value, most, found, take);
  else if (isSet(value)) lookThrough(apply(sizeOfSet, value, []), eachOfSet, value, most, found, take);
  else if (isDate(value)) found.push(apply(getTime, value, []));
  else lookInto(value, most, found, take);
  found.push(END);
}

function lookAt(length, value, most, found, take) {
  found.push(length);
  const half = length <= most ? length : most >> 1;
  for (let at = 0; at < half; at++) take(value[at]);
  if (half === length) return;
  if (most === WIDE) limits.passed = true;
  for (let at = length - half; at < length; at++) take(value[at]);
}

// There is no way but through all of them: of large ones nothing but their size is told apart.
function lookThrough(size, each, value, most, found, take) {
  found.push(size);
  if (size > most && most === WIDE) limits.passed = true;
  if (size > most) return;
  apply(each, value, [(item, key) => {
    found.push(key);
    take(item);
  }]);
}

function lookInto(value, most, found, take) {
  const names = keys(value);
  const end = names.length < most ? names.length : most;
  if (end < names.length && most === WIDE) limits.passed = true;
  found.push(names.length);
  for (let at = 0; at < end; at++) {
    const known = descriptor(value, names[at]);
    found.push(names[at]);
    if (known && 'value' in known) take(known.value);
    else found.push(GETTER);
  }
}

function same(one, other) {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at] && !is(one[at], other[at])) return false;
  return true;
}

const quoted = (key) => (typeof key === 'string' ? values.quoted(key) : String(key));

module.exports = { END, limits, quoted, same, shot, summed, text, thrown, typeOf };
