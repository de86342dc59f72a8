// Notes where each promise is made and what it waits for, from the program's start on, so that a hang can be told: V8 itself
// forgets who awaits a promise. It takes some microseconds a promise; nothing that the program prints changes.
(function (store) {
  'use strict';
  const MOST = 20000; // pending ones that are noted
  const LISTED = 200;
  const DEEP = 16;
  const TOGETHER = new Set(['all', 'allSettled', 'race', 'any']);
  const FIRST = new Set(['race', 'any']); // of these one part alone may be the end
  const CHAINS = new Set(['then', 'catch', 'finally']);
  const RUNNER = 'node:internal/process/task_queues'; // by which Node has jobs run

  const pending = new Map(); // promise to what is known of it
  let current; // the note of the one whose end the running call had waited for
  let count = 0;
  let missed = 0;

  function made(promise, parent) {
    if (pending.size >= MOST) {
      missed += 1;
      return;
    }
    const note = { parent, number: count += 1, first: current && (current.first || current), job: current };
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
    settled: (promise) => {
      const note = pending.get(promise);
      if (note !== undefined) note.job = undefined; // else a loop that awaits would keep all its rounds
      pending.delete(promise);
    },
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

  // The calls of `then`, and of what calls it, that a promise was made by.
  function chain(note) {
    const own = sites(note).findIndex((site) => !isNative(site));
    const inside = own < 0 ? sites(note) : sites(note).slice(0, own);
    return inside.every((site) => CHAINS.has(site.getFunctionName())) ? inside : [];
  }

  // What a promise is by the way it was made: `new Promise`, `Promise.all`, `Promise.then`, or nothing of the kind.
  function word(note) {
    const [top] = sites(note);
    if (!top || !isNative(top)) return '';
    if (top.isConstructor()) return 'new Promise';
    const made = (chain(note).at(-1) || top).getFunctionName();
    return TOGETHER.has(made) || CHAINS.has(made) ? `Promise.${made}` : '';
  }

  // Whether this is how V8 waits for a promise that another was resolved with (given to `resolve`, or returned): it calls `then`
  // in a job of its own, which is that other one's.
  function isHandover(note) {
    const [top, under] = sites(note);
    const runs = under === undefined || under.getFileName() === RUNNER;
    return note.job !== undefined && note.parent !== undefined && isNative(top) && top.getFunctionName() === 'then' && runs;
  }

  // Those that a Promise.all and its like wait for: it calls `then` of each, inside of itself.
  function parts(note, waiting) {
    const inside = `${place(sites(note)[0])}\n${below(note)}`;
    return waiting.filter((each) => below(each) === inside).map((each) => each.parent);
  }

  // What each of those that still wait does wait for: what it was resolved with, or what its `then` or `await` is of.
  function awaited(notes) {
    const found = new Map();
    for (const each of notes.filter(isHandover)) if (pending.has(each.parent)) found.set(each.job, each.parent);
    for (const each of notes) {
      if (each.parent === undefined || found.has(each) || isHandover(each) || sites(each).every(isNative)) continue;
      if (chain(each).length > 0 || !isNative(sites(each)[0])) found.set(each, each.parent);
    }
    return found;
  }

  function told() {
    const notes = [...pending.values()].filter((each) => sites(each).length > 0);
    const waiting = notes.filter((each) => each.parent !== undefined);
    const calling = notes.filter((each) => each.parent === undefined && !isNative(sites(each)[0]));
    const awaits = awaited(notes);
    const owners = new Map(); // the note of an async call to that of what it awaits
    for (const each of awaits.keys()) {
      const found = each.parent === undefined || isNative(sites(each)[0]) ? undefined : owner(each, calling);
      if (found !== undefined) owners.set(found, each);
    }
    const name = (note) => sites(note)[0]?.getFunctionName();
    const on = (promise, outer) => {
      const note = pending.get(promise);
      if (note === undefined) return [];
      if (owners.has(note)) return [owners.get(note).number];
      if (awaits.has(note)) return [note.number];
      if (!TOGETHER.has(name(note)) || (!outer && FIRST.has(name(note)))) return [];
      return parts(note, waiting).flatMap((each) => on(each, false));
    };
    const text = (note) => note.all.map((each) => `    at ${each}`).join('\n');
    const rows = [...awaits].sort(([one], [other]) => one.number - other.number).slice(0, LISTED).map(([each, promise]) => {
      const note = pending.get(promise);
      const known = note !== undefined && sites(note).length > 0;
      const first = known && isNative(sites(note)[0]) && FIRST.has(name(note)) && parts(note, waiting).length > 1;
      return { id: each.number, stack: text(each), on: on(promise, true), first, word: known ? word(note) : '', made: known ? text(note) : '' };
    });
    return { rows, total: awaits.size, pending: pending.size, missed };
  }

  store.noted.promises = told;
  // At an end to which it came by itself: who waits for what nobody can settle any more.
  store.noted.left = () => (process.getActiveResourcesInfo?.().length === 0 && pending.size ? JSON.stringify(told()) : '');
})
