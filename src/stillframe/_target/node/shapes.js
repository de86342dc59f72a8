// What a long value is like as a whole, beside its first items: kinds, keys, extremes. Nothing of the program's is run for it.
(function (load, values) {
  'use strict';
  const { typeName, entriesOf, membersOf, totalOf, quoted, grouped } = values;
  const { isProxy, isMap, isSet, isTypedArray } = load('util').types;
  const { isBuffer, prototype: { latin1Slice } } = load('buffer').Buffer;
  const descriptor = Object.getOwnPropertyDescriptor;
  const keysOf = Object.keys;
  const isArray = Array.isArray;
  const apply = Reflect.apply;

  const MOST = 20000; // items that are looked through; of more, nothing is claimed
  const LARGEST = 1000000; // numbers of a typed array
  const KINDS = 3; // told at the most
  const KEYS = 6;
  const PLAIN_TEXT = /^[\t\n\r\x20-\x7e]+$/;

  // A few words about all of its items; undefined where there is nothing to say, or too much to look at.
  function shapeOf(value) {
    if (typeof value !== 'object' || value === null || isProxy(value)) return undefined;
    const total = totalOf(value);
    if (!total) return undefined;
    if (isTypedArray(value)) return total <= LARGEST ? ofNumbers(value, total) : undefined;
    if (total > MOST) return undefined;
    if (isArray(value)) return ofItems(held(value));
    if (isSet(value)) return ofItems(membersOf(value, 0, total));
    return isMap(value) ? ofMap(entriesOf(value, 0, total)) : undefined;
  }

  // The items that are there, without running a getter; undefined stands for one.
  function held(value) {
    const found = [];
    for (let at = 0; at < value.length; at++) {
      const known = descriptor(value, at);
      if (known) found.push(known.value);
    }
    return found;
  }

  function ofItems(items) {
    const kinds = counted(items);
    if (!kinds.length) return undefined;
    if (kinds.length > KINDS) return `${grouped(items.length)} items of ${kinds.length} kinds`;
    const told = kinds.map(([kind, count]) => `${grouped(count)} ${kind}${count === 1 || kind.endsWith('s') ? '' : 's'}`).join(', ');
    if (kinds.length > 1) return told;
    if (kinds[0][0] === 'number') return told + extremes(items, items.length);
    if (kinds[0][0] === 'Object') return told + keys(items);
    return told;
  }

  function ofMap(entries) {
    const from = counted(entries.map(([key]) => key));
    const to = counted(entries.map(([, item]) => item));
    if (from.length !== 1 || to.length !== 1) return undefined;
    const told = `${from[0][0]} to ${to[0][0]}`;
    return to[0][0] === 'number' ? told + extremes(entries.map(([, item]) => item), entries.length) : told;
  }

  function ofNumbers(value, length) {
    const told = `${grouped(length)}${extremes(value, length)}`;
    if (!isBuffer(value)) return told;
    const head = apply(latin1Slice, value, [0, Math.min(40, length)]);
    return PLAIN_TEXT.test(head) ? `${told}, text ${quoted(head)}${length > 40 ? '…' : ''}` : told;
  }

  // Kinds with how many there are of each, the most frequent first.
  function counted(items) {
    const kinds = new Map();
    for (const item of items) {
      const kind = typeName(item);
      kinds.set(kind, (kinds.get(kind) || 0) + 1);
    }
    return [...kinds].sort((one, other) => other[1] - one[1]);
  }

  function extremes(numbers, length) {
    let low, high;
    let missing = 0;
    for (let at = 0; at < length; at++) {
      const one = numbers[at];
      if (one !== one) missing += 1;
      else if (low === undefined) low = high = one;
      else if (one < low) low = one;
      else if (one > high) high = one;
    }
    const told = low === undefined ? '' : low === high ? `, ${short(low)} each` : `, ${short(low)} to ${short(high)}`;
    return told + (missing ? `, ${grouped(missing)} NaN` : '');
  }

  function short(one) {
    return typeof one === 'bigint' ? `${one}n` : String(Number.isInteger(one) ? one : Number(one.toPrecision(6)));
  }

  // The keys that all have; where they have not, how many have the usual ones.
  function keys(items) {
    const sets = new Map();
    for (const item of items) {
      const names = keysOf(item).slice(0, KEYS + 1).join(' ');
      sets.set(names, (sets.get(names) || 0) + 1);
    }
    const [[usual, count]] = [...sets].sort((one, other) => other[1] - one[1]);
    const names = usual.split(' ');
    const told = names.slice(0, KEYS).join(' ') + (names.length > KEYS ? ' …' : '');
    if (!usual) return '';
    return sets.size === 1 ? `, keys ${told}` : `, ${grouped(count)} of them with keys ${told}`;
  }

  return shapeOf;
})
