// Every shape of function and statement that rewriting has to leave as it is: what it prints must not change.
import { setTimeout as sleep } from 'node:timers/promises';

const said = [];
const say = (...words) => said.push(words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' '));

class Base {
  constructor(n) { this.n = n; }
  who() { return `base ${this.n}`; }
}

class Cart extends Base {
  #secret = 1;
  static made = 0;
  static { Cart.started = true; }
  late = () => this.#secret;

  constructor(n, ...rest) {
    if (n < 0) throw new RangeError('negative');
    super(n);
    this.items = [];
    Cart.made++;
    this.rest = rest;
  }

  get size() { return this.items.length; }
  set size(n) { this.items.length = n }
  who() { return super.who() + '!'; }
  ['comp' + 'uted']() { return new.target === undefined }
  #hidden(x) { return x in this ? 1 : 0 }
  static of(...all) { return new this(all.length, ...all) }

  async add(item, ...more) {
    this.items.push(item, ...more);
    this.#secret += 1;
    await sleep(1);
    const got = await this.check(item);
    outer: for (let i = 0; i < 3; i++) {
      for (const x of [1, 2, 3]) { if (x === 2) continue outer; if (i === 2) break outer; }
    }
    return got?.ok ?? this.size + this.#hidden('n');
  }

  async check(item) { if (item === 'bad') throw new Error('bad item'); return { ok: item.length }; }
  *walk(from = 0) { let i = from; while (i < this.items.length) yield this.items[i++]; return 'done'; }
  async *later() { for (const each of this.walk()) { yield* [each, await each] } }
}

const pick = ({ a, b: [c, d = 4] }, ...rest) => ({ a, c, d, rest });
const twice = x => x * 2
const nested = (a) => (b) => { "use strict"; return a + b };
function strict() { 'use strict'; return this === undefined; }
function empty() {}
function directive() { 'use strict' }
function hoists() { return inner(); function inner() { return typeof later } var later }
function counts() { counts.n = (counts.n || 0) + 1; if (counts.n < 3) return counts(); else return counts.n }
function args() { return [...arguments].length + arguments[0] }
function defaults(a, b = a + 1, { c = b } = {}) { return [a, b, c] }
function shadows(x) { { let x = 2; x++ } try { throw x } catch (x) { x = 5; } return x }
function finals(way) { try { if (way) return 'try'; throw new Error('x') } catch { return 'catch' } finally { say('finally', String(way)) } }
function* spoken() { const got = yield; say('got', got); try { yield* [1, 2] } finally { say('closed') } }
function tagged(parts, ...values) { return parts.raw.join('|') + values.join() }
function closures() { const made = []; for (let i = 0; i < 3; i++) made.push(() => i); return made.map((each) => each()) }
function loops(xs) {
  let t = 0
  for (const x of xs) t += x
  for (const k in { a: 1, b: 2 }) if (k === 'b') continue; else t += 1
  for (;;) { if (t++ > 10) break }
  do t--; while (t > 5)
  while (t) { t--; if (t === 2) break }
  for (var i = 0, j = 9; i < j; i++, j--);
  switch (t) { case 1: t = 10; case 2: { let z = 3; t += z } break; default: const q = 1; t += q }
  a: { b: for (const x of xs) { if (x) break a; else continue b } t = 'never' }
  if (t) ; else t = 0
  return [t, i, j]
}

async function all(cart) {
  const seen = []
  for await (const x of (async function* () { yield 1; yield 2 })()) { if (x === 2) continue; seen.push(x) }
  for await (const x of cart.later()) seen.push(x)
  try { await cart.add('bad') } catch ({ message }) { seen.push(message) } finally { seen.push('f') }
  var f = function () { return this?.k }, o = { k: 7, f, get g() { return f.call(this) }, async h() { return await this.k } }
  seen.push(o.f(), o?.f?.(), (0, o.f)() === undefined, `${twice(3)}`, new Date(0).getTime(), o.g, await o.h(), o.missing?.f(seen.gone()))
  const [first, ...others] = await Promise.all([1, Promise.resolve(2), (async () => { await null; return 3 })()])
  return [...seen, first, others]
}

const cart = Cart.of('a', 'b');
say(await cart.add('pen', 'ink'), [...cart.walk()], cart.who(), cart.computed(), cart.late(), Cart.made, Cart.started, (cart.size = 1, cart.size));
say(pick({ a: 1, b: [2] }, 5), nested(1)(2), strict(), empty(), directive(), hoists(), counts(), args(3, 4), defaults(1), shadows(1), finals(1), finals(0));
say([closures, loops, Cart, pick, all, Cart.prototype.add].map((each) => each.toString().length), Function.prototype.toString.call(Function.prototype.toString).slice(-17));
say(closures(), loops([1, 2, 3]), tagged`a${1}b${2}c`, await all(cart), [3, 1, 2].sort((a, b) => a - b).map(twice));
const talk = spoken();
talk.next();
say(talk.next('hello').value, talk.return('over').value, [new Cart(1)].map((each) => each instanceof Base), twice.name, pick.length);
try { new Cart(-1) } catch (error) { say(error.name, error instanceof RangeError, /odd\.mjs:\d+/.test(error.stack)) }
console.log(said.join('\n'));
