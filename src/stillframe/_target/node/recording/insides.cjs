'use strict';

// What has changed inside of an object, told by where it is: by two of the lists that `shot` makes of it, before and now.

const { types } = require('util');
const { END, quoted } = require('./summaries.cjs');

const MOST = 3; // parts that are told one by one
const NAME = /^[A-Za-z_$][\w$]*$/;
const { is } = Object;
const hasParts = (value) => typeof value === 'object' && value !== null;

// One list for the object itself, and one for each of its parts that has parts.
function segments(shot) {
  const found = [[]];
  for (const each of shot) {
    if (each === END) found.push([]);
    else found[found.length - 1].push(each);
  }
  return found;
}

// The parts of an object out of such a list, each with how it is written behind the object's name; undefined where some are left
// out, or have no place.
function partsOf(value, segment) {
  if (segment === undefined || types.isSet(value) || types.isDate(value)) return undefined;
  const [count, ...rest] = segment;
  if (Array.isArray(value) || types.isTypedArray(value)) {
    return rest.length === count ? rest.map((part, at) => [`[${at}]`, part]) : undefined;
  }
  if (rest.length !== 2 * count) return undefined;
  const found = [];
  for (let at = 0; at < rest.length; at += 2) {
    const key = rest[at];
    if (typeof key !== 'string' && typeof key !== 'number') return undefined;
    found.push([typeof key === 'string' && NAME.test(key) && !types.isMap(value) ? `.${key}` : `[${quoted(key)}]`, rest[at + 1]]);
  }
  return found;
}

// The lists of those parts that have one, in the order in which they were made.
function below(parts, lists) {
  let next = 1;
  return parts.map(([, part]) => (hasParts(part) && !types.isProxy(part) && !types.isPromise(part) ? lists[next++] : undefined));
}

const isSame = (one, other) => one.length === other.length && one.every((each, at) => is(each, other[at]));

// Pairs of a path and what is there now; `inside` tells of a part that is the same object as before. Undefined where parts were
// taken away or moved.
function compared(olds, news, inside) {
  if (olds === undefined || news === undefined || news.length < olds.length) return undefined;
  if (olds.some(([path], at) => path !== news[at][0])) return undefined;
  return news.flatMap(([path, part], at) => (at < olds.length && is(olds[at][1], part) ? inside(path, part, at) : [[path, part]]));
}

// The few parts by which an object is not what it was; none where nobody can tell.
function changedParts(value, before, now) {
  const [was, are] = [segments(before), segments(now)];
  const [olds, news] = [partsOf(value, was[0]), partsOf(value, are[0])];
  if (olds === undefined || news === undefined) return [];
  const [oldLists, newLists] = [below(olds, was), below(news, are)];
  const changed = (isDeep) => compared(olds, news, (path, part, at) => {
    const [one, other] = [oldLists[at], newLists[at]];
    if (one === undefined || other === undefined || isSame(one, other)) return [];
    const deeper = isDeep ? compared(partsOf(part, one), partsOf(part, other), () => []) : undefined;
    return deeper === undefined ? [[path, part]] : deeper.map(([step, each]) => [path + step, each]);
  }) || [];
  const found = changed(true);
  const told = found.length <= MOST ? found : changed(false); // where they are many, those that they are in
  return told.length <= MOST ? told : [];
}

module.exports = { changedParts };
