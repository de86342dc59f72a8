'use strict';
// What was seen at the places of a probe: how often, which values, and which claims were false there. Everything is counted; of
// values only as much is kept as a reply can use.
const { callers } = require('./stacks.cjs');
const { summed, text, thrown, typeOf } = require('./summaries.cjs');

const OBJECTS = 1000; // so many values that are no atoms are written out for telling them apart
const NOWHERE = Symbol('unbound');

class Expression {
  constructor() {
    this.least = undefined;
    this.most = undefined;
    this.others = 0;
    this.seen = new Set();
    this.objects = 0;
    this.full = false;
  }
}

class Place {
  constructor(ask, journal, room, thread) {
    Object.assign(this, { ask, journal, room, thread, hits: 0, sampled: false, row: [], meets: false });
    this.id = ask.place;
    this.samples = ask.samples ?? 500;
    this.distinct = ask.distinct ?? 256;
    this.evidence = ask.evidence ?? 1;
    this.next = this.samples > 0 ? 1 : 0;
    this.stride = 1;
    this.counters = []; // the claims, or -1 for none, for which this visit is to be shown whole
    this.expressions = (ask.evals || []).map(() => new Expression());
    this.wrong = (ask.expects || []).map(() => 0);
    this.unknown = (ask.expects || []).map(() => 0);
    this.failed = new Set();
    this.tally = journal.numbersOf((missing) => this.counted(missing));
    this.extents = this.expressions.map((each, at) => journal.numbersOf(() => this.extent(each, at)));
  }

  counted(missing) {
    let claims = '';
    for (let at = 0; at < this.wrong.length; at++) claims += `${at ? ',' : ''}[${this.wrong[at]},${this.unknown[at]}]`;
    return `["tally",${this.id},${this.hits},[${claims}],${missing}]`;
  }

  extent({ least, most, others }, at) {
    return `["extent",${this.id},${at},"${least === undefined ? '' : least}","${most === undefined ? '' : most}",${others}]`;
  }

  begin() {
    this.hits += 1;
    if (this.counters.length) this.counters.length = 0;
    if (this.hits <= this.evidence) this.counters.push(-1);
    this.sampled = this.hits === this.next;
    if (this.sampled) {
      this.row = [];
      if (this.hits >= this.samples) this.stride = 2 ** Math.ceil(Math.log2((2 * this.hits) / this.samples));
      this.next += this.stride;
    }
  }

  take(at, value) {
    const each = this.expressions[at];
    const kind = typeof value;
    if ((kind === 'number' && value === value) || kind === 'bigint') {
      if (each.least === undefined) each.least = each.most = value;
      else if (value < each.least) each.least = value;
      else if (value > each.most) each.most = value;
      else return this.tellValue(each, at, value, kind);
    } else each.others += 1;
    this.extents[at].touch();
    this.tellValue(each, at, value, kind);
  }

  tellValue(each, at, value, kind) {
    if (!each.full) this.tellApart(each, at, value, kind);
    if (this.sampled) this.row.push([typeOf(value), summed(value, this.room)]);
  }

  tellApart(each, at, value, kind) {
    let key = value;
    if ((kind === 'object' && value !== null) || kind === 'function' || kind === 'symbol') {
      if (++each.objects > OBJECTS) return this.tellFull(each, at, `${this.hits - 1}`);
      key = `\0${text(value, this.room)}`;
    }
    if (each.seen.has(key)) return undefined;
    if (each.seen.size >= this.distinct) return this.tellFull(each, at);
    each.seen.add(key);
    return this.journal.soon(['distinct', this.id, at, typeOf(value), summed(value, this.room)]);
  }

  // There are too many to tell apart, or enough hits were looked at, of which the number is told.
  tellFull(each, at, looked = '') {
    each.full = true;
    this.journal.soon(['distinct', this.id, at, '', looked, true]);
  }

  fail(at, error) {
    this.expressions[at].others += 1;
    this.extents[at].touch();
    this.tellFailed(at, error);
    if (this.sampled) this.row.push(['!', thrown(error, this.room)]);
  }

  claim(at, holds) {
    if (holds) return;
    if (this.wrong[at]++ === 0) this.showFor(at);
  }

  unclear(at, error) {
    if (this.unknown[at]++ === 0) this.showFor(at);
    this.tellFailed(this.expressions.length + at, error);
  }

  odd(error) {
    this.meets = false;
    this.tellFailed(-1, error);
  }

  tellFailed(which, error) {
    if (this.failed.has(which)) return;
    this.failed.add(which);
    this.journal.tell(['failed', this.id, which, which < 0 ? this.hits + 1 : this.hits, thrown(error, this.room)]);
  }

  showFor(claim) {
    this.counters.push(claim);
  }

  // One visit is over; whether all that can be seen here is asked for.
  end(called) {
    if (this.sampled && this.row.length) this.journal.soon(['sample', this.id, this.hits, this.row, called, this.thread]);
    this.tally.touch();
    return this.counters.length > 0;
  }

  show(names, values) {
    const locals = [];
    values.forEach((value, at) => {
      if (value !== NOWHERE && (typeof value !== 'function' || at === 0)) locals.push([names[at], typeOf(value), summed(value, this.room)]);
    });
    const stack = callers(0, 12);
    for (const claim of this.counters) this.journal.tell(['evidence', this.id, this.hits, claim, locals, stack, this.thread]);
  }

  o(read) {
    try {
      return read();
    } catch (error) { // not there yet
      return NOWHERE;
    }
  }
}

module.exports = { Place };
