// Notes where each promise is made and what it waits for, from the program's start on, so that a hang can be told: V8 itself
// forgets who awaits a promise. It takes some microseconds a promise; nothing that the program prints changes.
(function (store) {
  'use strict';
  const MOST = 20000; // pending ones that are noted
  const LISTED = 200;
  const DEEP = 16;
  const TOGETHER = new Set(['all', 'allSettled', 'race', 'any']);

  const CHAINS = new Set(['then', 'catch', 'finally']);

  const pending = new Map(); // promise to what is known of it
  let current; // the note of the one whose end the running call had waited for
  let count = 0;
  let missed = 0;

  function made(promise, parent) {
    if (pending.size >= MOST) {
      missed += 1;
      return;
    }
    const note = { parent, number: count += 1, first: current && (current.first || current) };
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = DEEP;
    Error.captureStackTrace(note, made);
    Error.stackTraceLimit = limit;
    pending.set(promise, note);
  }

  const hooks = {
    init: made,
    before: (promise) => { current = pending.get(promise); },
    after: () => { current = undefined; },
    settled: (promise) => { pending.delete(promise); },
  };
  // A main thread waits for us in our own hook, which puts these in the place of Node's own before it lets the program run.
  if (process.chdir.disabled) store.load('v8').promiseHooks.createHook(hooks);
  else Object.defineProperty(globalThis, Symbol.for('stillframe.promises'), { value: hooks, configurable: true });

  // The calls that a note was made in, as V8 has them, innermost first; those that merely await come with the text alone.
  function sites(note) {
    if (note.sites === undefined) {
      const prepare = Error.prepareStackTrace;
      Error.prepareStackTrace = (_, all) => all;
      const found = note.stack;
      Error.prepareStackTrace = prepare;
      note.all = Array.isArray(found) ? found : [];
      note.sites = note.all.filter((each) => !each.isAsync());
    }
    return note.sites;
  }

  const isNative = (site) => !site.getFileName();
  const place = (site) => `${site.getFunctionName()} ${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`;
  // Who called, without how Node came to run it.
  const below = (note) => sites(note).slice(1).filter((each) => !String(each.getFileName()).startsWith('node:')).map(place).join('\n');
  const functionOf = (site) => `${site.getFunctionName()} ${site.getFileName()}`;

  // Of a promise that awaits: that of the async call which it belongs to, where that is sure. The call is pending as well, and made
  // its first wait in the same calls that it was made in itself.
  function owner(note, calling) {
    const [top] = sites(note);
    const goesOn = note.first !== undefined && below(note) === '';
    const first = goesOn ? note.first : note;
    if (goesOn && (sites(first).length === 0 || functionOf(sites(first)[0]) !== functionOf(top))) return undefined;
    let found;
    for (const each of calling) {
      if (each.number < first.number && functionOf(sites(each)[0]) === functionOf(top) && below(each) === below(first)) found = each;
    }
    return found;
  }

  // What a promise is by the way it was made: `new Promise`, `Promise.all`, or nothing of the kind.
  function word(note) {
    const [top] = sites(note);
    if (!top || !isNative(top)) return '';
    return TOGETHER.has(top.getFunctionName()) ? `Promise.${top.getFunctionName()}` : top.isConstructor() ? 'new Promise' : '';
  }

  // Those that a Promise.all and its like wait for: it calls `then` of each, inside of itself.
  function parts(note, waiting) {
    const inside = `${place(sites(note)[0])}\n${below(note)}`;
    return waiting.filter((each) => below(each) === inside).map((each) => each.parent);
  }

  function told() {
    const notes = [...pending.values()].filter((each) => sites(each).length > 0);
    const waiting = notes.filter((each) => each.parent !== undefined);
    const calling = notes.filter((each) => each.parent === undefined && !isNative(sites(each)[0]));
    const awaits = waiting.filter((each) => {
      const own = sites(each).findIndex((site) => !isNative(site));
      return own >= 0 && sites(each).slice(0, own).every((site) => CHAINS.has(site.getFunctionName()));
    });
    const owners = new Map(); // the note of an async call to that of what it awaits
    for (const each of awaits) {
      const found = isNative(sites(each)[0]) ? undefined : owner(each, calling);
      if (found !== undefined) owners.set(found, each);
    }
    const on = (promise) => {
      const note = pending.get(promise);
      if (note === undefined) return [];
      if (owners.has(note)) return [owners.get(note).number];
      return TOGETHER.has(sites(note)[0]?.getFunctionName()) ? parts(note, waiting).flatMap(on) : [];
    };
    const text = (note) => note.all.map((each) => `    at ${each}`).join('\n');
    const rows = awaits.slice(0, LISTED).map((each) => {
      const awaited = pending.get(each.parent);
      const known = awaited !== undefined && sites(awaited).length > 0;
      return { id: each.number, stack: text(each), on: on(each.parent), word: known ? word(awaited) : '', made: known ? text(awaited) : '' };
    });
    return { rows, total: awaits.length, pending: pending.size, missed };
  }

  store.noted.promises = told;
  // At an end to which it came by itself: who waits for what nobody can settle any more.
  store.noted.left = () => (process.getActiveResourcesInfo?.().length === 0 && pending.size ? JSON.stringify(told()) : '');
})
