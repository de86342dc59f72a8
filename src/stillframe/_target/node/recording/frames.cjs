'use strict';
// One call's life, told as it happens: what rewritten functions (`tracing.cjs`) call. A call that nobody asked for is a number
// here, and costs next to nothing; the one that was asked for, and what it calls, are frames.
const { changedParts, GONE } = require('./insides.cjs');
const { limits, same, shot, summed, text, thrown } = require('./summaries.cjs');
const { callers } = require('./stacks.cjs');

const { stringify } = JSON;
const { is } = Object;
const UNNAMED = Symbol('unnamed'); // what a catch takes apart at once
const UNBOUND = Symbol('unbound');
const NOTHING = Object.freeze([]);

class Frames {
  constructor(ask, room, journal, thread) {
    this.ask = ask;
    this.journal = journal;
    this.thread = thread;
    this.room = room ?? 100;
    this.metas = new Map();
    this.calls = 0;
    this.raised = 0;
    this.raising = 0;
    this.told = 0;
    this.lines = 0;
    this.root = undefined;
    this.at = null; // the innermost frame that runs now
    this.UNNAMED = UNNAMED;
    this.tally = journal.numbersOf(() => `["calls",${this.calls},${this.raised}]`);
    this.mostLines = ask.most_lines ?? 1_000_000;
    this.mostCalls = ask.most_calls ?? 20_000;
    this.depth = ask.depth || 0;
    this.wantsLines = ask.lines !== false;
  }

  keep(id, meta) {
    meta.heads = meta.names.map((name) => `[${stringify(name)},`); // what is told of a variable, up to its value
    this.metas.set(id, meta);
  }

  // A call begins. A number stands for one that is not told: which call of the function asked for it is, or 0.
  enter(id, values, condition) {
    const meta = this.metas.get(id);
    if (meta === undefined) return 0;
    let number = 0;
    if (meta.target) {
      number = ++this.calls;
      this.tally.touch();
    }
    if (this.root === undefined) return number && this.isWanted(number, condition) ? this.begin(meta, values, null, number) : number;
    if (this.at === null || this.at.level > this.depth || this.told >= this.mostCalls) return number;
    return this.begin(meta, values, this.at, number);
  }

  isWanted(number, condition) {
    if (this.ask.call) return number === this.ask.call;
    if (!condition) return true;
    try {
      return Boolean(condition());
    } catch (error) {
      if (!this.failed) this.journal.tell(['note', `--if failed at call ${number}: ${thrown(error, this.room)}`]);
      this.failed = true;
      return false;
    }
  }

  begin(meta, values, parent, number) {
    const level = parent ? parent.level + 1 : 0;
    const id = ++this.told;
    const frame = {
      id, meta, level, number, parent, outer: this.at, on: this.wantsLines && level <= this.depth,
      last: slots(meta), shots: slots(meta), texts: slots(meta), head: `["l",${id},`,
      touched: NOTHING, pending: [], promised: 0, waits: false, broke: false, fresh: -1, line: 0, out: '', thrown: '', changes: '',
    };
    let given = '';
    for (let slot = 0; slot < values.length; slot++) {
      const change = this.changed(frame, slot, values[slot], true);
      if (slot < meta.params) given = joined(given, change);
      else frame.changes = joined(frame.changes, change);
    }
    if (parent === null) this.root = frame;
    else this.adopt(parent, meta);
    if (frame.on && !meta.target && !meta.told) this.journal.tell(['found', -2, meta.function, meta.file, meta.line, meta.last, meta.loops]);
    meta.told = true;
    const caller = parent === null ? callers(1, 1)[0] || null : [parent.meta.function, parent.meta.file, parent.line];
    const by = stringify([number, caller, this.thread, frame.on]).slice(1);
    this.journal.line(`["call",${id},${parent ? parent.id : 0},${stringify(meta.function)},${stringify(meta.file)},${meta.line},[${given}],${by}\n`);
    this.at = frame;
    if (frame.on && frame.changes) this.journal.line(`["l",${id},${meta.line}]\n`); // what it has from outside stands there
    return frame;
  }

  // A call that was noted where it was made is told by the function itself, if it is the one that has come up.
  adopt(parent, meta) {
    const noted = parent.pending[parent.pending.length - 1];
    if (noted !== undefined && !noted.told) noted.told = lastWord(meta.function.replace(/\.constructor$/, '')) === lastWord(noted.site.name);
  }

  // What variables are

  o(read) {
    try {
      return read();
    } catch (error) { // not there yet
      return UNBOUND;
    }
  }

  // Name and text, as JSON, of a variable that is not what it was, else nothing; `deep` says that what it holds may have changed, too.
  changed(frame, slot, value, deep) {
    if (typeof value === 'number') {
      if (value === frame.last[slot] || is(value, frame.last[slot])) return '';
      frame.last[slot] = value;
      return this.toldAs(frame, slot, text(value, this.room), true);
    }
    if (value === frame.last[slot] && (!deep || typeof value !== 'object' || value === null)) return this.unseen(frame, slot, value);
    if (value === UNBOUND || (typeof value === 'function' && slot >= frame.meta.params)) return '';
    if (typeof value === 'object' && value !== null) {
      const now = shot(value);
      if (limits.passed) this.limit();
      const before = frame.shots[slot];
      if (value === frame.last[slot] && same(now, before)) return '';
      frame.shots[slot] = now;
      if (value === frame.last[slot]) return this.changedInside(frame, slot, value, before, now);
    } else if (is(value, frame.last[slot])) return this.unseen(frame, slot, value);
    frame.last[slot] = value;
    return this.toldAs(frame, slot, summed(value, this.room));
  }

  limit() {
    limits.passed = false;
    if (!this.hasLimit) this.journal.tell(['note', 'of values with more than 4,096 parts, a change in the middle is not seen']);
    this.hasLimit = true;
  }

  unseen(frame, slot, value) {
    return value === undefined && frame.texts[slot] === undefined ? this.toldAs(frame, slot, 'undefined', true) : '';
  }

  // `isPlain`: nothing in the text needs an escape.
  toldAs(frame, slot, now, isPlain = false) {
    if (frame.texts[slot] === now) return '';
    frame.texts[slot] = now;
    return isPlain ? `${frame.meta.heads[slot]}"${now}"]` : `${frame.meta.heads[slot]}${stringify(now)}]`;
  }

  // The same object as before, with something else in it: where its text may not show what, these parts are told as well.
  changedInside(frame, slot, value, before, now) {
    const whole = text(value, this.room, true);
    const mayShow = whole !== frame.texts[slot] && !whole.includes('…');
    const parts = mayShow ? [] : changedParts(value, before, now);
    frame.texts[slot] = whole;
    const told = `${frame.meta.heads[slot]}${stringify(whole)}`;
    return parts.length ? `${told},${stringify(parts.map(([path, ...held]) => [path, this.part(...held)]))}]` : `${told}]`;
  }

  // What a part holds now. Words of ours are in brackets: no text of a value is.
  part(value, isInserted) {
    if (value === GONE) return '(gone)';
    return `${text(value, this.room)}${isInserted ? ' (inserted)' : ''}`;
  }

  changes(frame, slots, values, touched, but) {
    let found = frame.changes;
    const { last } = frame;
    frame.changes = '';
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at];
      if (but.length && but.includes(slot)) continue;
      const value = values[at];
      const deep = typeof value === 'object' && (touched === undefined || touched.includes(slot));
      if (value === last[slot] && !deep && value !== undefined) continue;
      found = joined(found, this.changed(frame, slot, value, deep));
    }
    return found;
  }

  // Lines

  hit(frame, index, values) {
    const site = frame.meta.sites[index];
    this.pass(frame, site, this.changes(frame, site.slots, values, frame.touched, NOTHING));
  }

  pass(frame, site, changes) {
    this.at = frame;
    if (frame.pending.length) frame.pending.length = 0;
    if (++this.lines > this.mostLines) {
      frame.on = false;
      this.journal.tell(['cut', frame.id, 'lines']);
      return;
    }
    frame.line = site.line;
    frame.touched = site.touched;
    this.journal.line(changes ? `${frame.head}${site.line},[${changes}]]\n` : `${frame.head}${site.line}]\n`);
  }

  // A loop: before it, at the beginning of each turn, and behind it. Its own line is told before each turn and once at its end.
  head(frame, index, values) {
    this.hit(frame, index, values);
    frame.fresh = index;
    frame.broke = false;
  }

  turn(frame, index, values) {
    const site = frame.meta.sites[index];
    this.at = frame;
    frame.broke = false;
    if (frame.fresh === site.of) frame.fresh = -1;
    else this.pass(frame, site, this.changes(frame, site.slots, values, undefined, site.mine));
    if (site.oneLine && frame.on) frame.changes = this.changes(frame, site.slots, values, NOTHING, NOTHING);
    frame.touched = undefined;
  }

  over(frame, index, values) {
    frame.fresh = -1;
    if (frame.broke) frame.broke = false;
    else this.hit(frame, index, values);
  }

  // Calls that it makes: noted, then the arguments one by one, then the result

  call(frame, index) {
    if (frame.on) frame.pending.push({ site: frame.meta.calls[index], given: [], told: false, ready: false });
  }

  arg(frame, value) {
    if (frame.on && frame.pending.length && this.told < this.mostCalls) {
      const noted = frame.pending[frame.pending.length - 1];
      const names = noted.site.params;
      noted.given.push([(names && names[noted.given.length]) || '', summed(value, this.room)]);
    }
    return value;
  }

  none(frame) {
    if (frame.on && frame.pending.length) frame.pending[frame.pending.length - 1].ready = true;
    return NOTHING;
  }

  done(frame, noted, value) {
    if (frame.on && frame.pending.length) {
      const id = this.made(frame, frame.pending.pop());
      if (id) this.journal.tell(['ret', id, summed(value, this.room)]);
    }
    return value;
  }

  // One whose result is waited for at once: it is told when that has come.
  promised(frame, noted, value) {
    if (frame.on && frame.pending.length) frame.promised = this.made(frame, frame.pending.pop());
    return value;
  }

  made(frame, noted) {
    if (noted.told) return 0;
    if (this.told >= this.mostCalls) {
      if (!this.isCut) this.journal.tell(['cut', frame.id, 'calls']);
      this.isCut = true;
      return 0;
    }
    const { site } = noted;
    const id = ++this.told;
    this.journal.tell(['call', id, frame.id, site.name, site.file || '', site.line || 0, noted.given, 0, [frame.meta.function, frame.meta.file, frame.line], '', false]);
    return id;
  }

  // Waiting, and coming back

  yields(frame, value) {
    return this.waits(frame, value, summed(value, this.room));
  }

  waits(frame, value, told) {
    if (typeof frame === 'object') {
      this.journal.tell(['yield', frame.id, told || '']);
      this.gone(frame);
      frame.waits = true;
    }
    return value;
  }

  gone(frame) {
    if (typeof frame !== 'object') return;
    if (this.at === frame) this.at = frame.outer;
    frame.outer = null;
  }

  awoke(frame, value) {
    if (typeof frame === 'object') {
      this.back(frame);
      if (frame.promised) this.journal.tell(['ret', frame.promised, summed(value, this.room)]);
      frame.promised = 0;
    }
    return value;
  }

  back(frame) {
    if (!frame.waits) return;
    frame.waits = false;
    frame.outer = this.at;
    this.at = frame;
    this.journal.tell(['resume', frame.id]);
  }

  // Exceptions, and the end

  caught(frame, error) {
    this.back(frame);
    this.at = frame;
    const what = error === UNNAMED ? '<taken apart by its catch>' : thrown(error, this.room);
    this.blame(frame, what);
    this.journal.tell(['raised', frame.id, what]);
  }

  // The call that an exception came out of: the last one noted, once all its arguments were there.
  blame(frame, what) {
    const noted = frame.pending[frame.pending.length - 1];
    frame.pending.length = 0;
    if (frame.promised) this.journal.tell(['exc', frame.promised, what]);
    frame.promised = 0;
    if (noted === undefined || noted.told || (noted.site.args ? noted.given.length < noted.site.args : !noted.ready)) return;
    const id = this.made(frame, noted);
    if (id) this.journal.tell(['exc', id, what]);
  }

  ret(frame, value, index, values) {
    if (typeof frame === 'object') {
      frame.out = summed(value, this.room);
      this.end(frame, index, values);
    }
    return value;
  }

  // The last look at the variables: what no line has told yet was changed by the last one, or under another name before.
  end(frame, index, values) {
    if (values) frame.changes = this.changes(frame, frame.meta.sites[index].slots, values, undefined, NOTHING);
  }

  threw(frame, error) {
    const isFrame = typeof frame === 'object';
    const number = isFrame ? frame.number : frame;
    if (isFrame) {
      this.back(frame);
      frame.thrown = thrown(error, this.room);
      if (frame.on) this.blame(frame, frame.thrown);
    }
    if (!number) return;
    this.raised += 1;
    this.tally.touch();
    if (this.raising || (isFrame && frame.parent === null)) return;
    this.raising = number;
    this.journal.tell(['raising', number, isFrame ? frame.thrown : thrown(error, this.room)]);
  }

  leave(frame) {
    if (typeof frame !== 'object') return;
    if (this.at === frame) this.at = frame.outer;
    frame.on = false;
    if (frame.thrown) this.journal.tell(['exc', frame.id, frame.thrown]);
    else if (frame.waits) this.journal.tell(['closed', frame.id]);
    else this.journal.line(`["ret",${frame.id},${stringify(frame.out || 'undefined')},[${frame.changes}]]\n`);
  }
}

const slots = ({ names }) => new Array(names.length).fill(undefined);
const joined = (found, one) => (one === '' ? found : found === '' ? one : `${found},${one}`);
const lastWord = (name) => name.replace(/^.*[\s.]/, '');

module.exports = { Frames };
