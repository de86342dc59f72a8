'use strict';

// What has changed inside of an object, told by where it is: by two of the lists that `shot` makes of it, before and now.

const { types } = require('util');
const { END, quoted } = require('./summaries.cjs');

const MOST = 3; // parts that are told one by one
const NAME = /^[A-Za-z_$][\w$]*$/;
const { is } = Object;
const isRow = (value) => Array.isArray(value) || types.isTypedArray(value);
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
  if (isRow(value)) {
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

const GONE = Symbol('gone');

// What differs between two lists of parts, each as its path, what is there now (or that it is gone) and whether it was put before
// what was there; `inside` tells of a part that is the same object as before, by where it was and is. Undefined where nobody can tell.
function compared(olds, news, inside, isRow) {
  if (olds === undefined || news === undefined) return undefined;
  return isRow ? comparedRows(olds, news, inside) : comparedKeys(olds, news, inside);
}

function comparedKeys(olds, news, inside) {
  const [was, are] = [olds, news].map((parts) => new Map(parts.map(([path], at) => [path, at])));
  const found = news.flatMap(([path, part], at) => {
    const then = was.get(path);
    return then !== undefined && is(olds[then][1], part) ? inside(path, part, then, at) : [[path, part, false]];
  });
  return [...found, ...olds.filter(([path]) => !are.has(path)).map(([path]) => [path, GONE, false])];
}

// Parts that are others in their places; or what was put in or taken out in one place.
function comparedRows(olds, news, inside) {
  const [fewer, grown] = [Math.min(olds.length, news.length), news.length - olds.length];
  const isKept = (at, by) => is(olds[at][1], news[at + by][1]);
  let front = 0;
  while (front < fewer && (grown === 0 || isKept(front, 0))) front++;
  let back = 0;
  while (back < fewer - front && isKept(olds.length - 1 - back, grown)) back++;
  if (front + back < fewer) return undefined;
  const found = news.flatMap(([path, part], at) => {
    if (at >= front && at < news.length - back) return [[path, part, back > 0]];
    const then = at < front ? at : at - grown;
    return is(olds[then][1], part) ? inside(path, part, then, at) : [[path, part, false]];
  });
  return [...found, ...olds.slice(front, olds.length - back).map(([path]) => [path, GONE, false])];
}

// The few parts by which an object is not what it was; none where nobody can tell.
function changedParts(value, before, now) {
  const [was, are] = [segments(before), segments(now)];
  const [olds, news] = [partsOf(value, was[0]), partsOf(value, are[0])];
  if (olds === undefined || news === undefined) return [];
  const [oldLists, newLists] = [below(olds, was), below(news, are)];
  const changed = (isDeep) => compared(olds, news, (path, part, then, at) => {
    const [one, other] = [oldLists[then], newLists[at]];
    if (one === undefined || other === undefined || isSame(one, other)) return [];
    const deeper = isDeep ? compared(partsOf(part, one), partsOf(part, other), () => [], isRow(part)) : undefined;
    return deeper === undefined ? [[path, part, false]] : deeper.map(([step, ...rest]) => [path + step, ...rest]);
  }, isRow(value)) || [];
  const found = changed(true);
  const told = found.length <= MOST ? found : changed(false); // where they are many, those that they are in
  return told.length <= MOST ? told : [];
}

module.exports = { changedParts, GONE };
