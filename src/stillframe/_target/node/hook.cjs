'use strict';
// Preloaded into every Node process of a debugged family: opens its inspector, tells Stillframe where, waits for it.
//
// STILLFRAME_NODE names a FIFO in a private directory. A line written there says who we are; the answer is a debugger that
// connects and lets us run. Nobody reads the FIFO any more: the write fails at once and the program runs on undebugged.
// Package runners are not what anybody wants to debug: they pass on the environment and are left alone.

(function () {
  const RUNNERS = /(^|[\\/])(npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack|tsx)(-cli)?(\.[cm]?js)?$|[\\/]tsx[\\/]dist[\\/]cli\.[cm]js$/;
  // What Node 18 to 24 says of its inspector on standard error; no option silences all of it.
  const OWN_WORDS =
    /^(?:Debugger listening on ws:\/\/\S+|For help, see: https:\/\/nodejs\.org\/\S+|Debugger attached\.|Debugger ending on ws:\/\/\S+)\n|Waiting for the debugger to disconnect\.\.\.\n/gm;

  const OURS = ['STILLFRAME_NODE', 'STILLFRAME_NODE_ALONE', 'STILLFRAME_NODE_OPTIONS'];

  const LOADER = Symbol.for('stillframe.loader'); // where our code that comes now finds what `require('module')` would load
  const PROMISES = Symbol.for('stillframe.promises'); // where it leaves what is to be told of promises
  const MEETING = Symbol.for('stillframe.meeting'); // where the debugger tells a worker of the FIFO

  // A module that nobody asked for costs its loading, and once more when the debugger is told of all that is loaded: so none
  // is loaded here, but where Node leaves no other way.
  function come_up() {
    const isMainThread = !process.chdir.disabled; // so Node 18 to 24 marks what a worker cannot do
    const fifo = isMainThread ? process.env.STILLFRAME_NODE : globalThis[MEETING];
    if (!fifo || RUNNERS.test(process.argv[1] || '')) return;
    const alone = process.env.STILLFRAME_NODE_ALONE === '1';
    if (isMainThread) be_plain();
    else delete globalThis[MEETING];
    forget_us();
    if (!alone) mind_children(fifo);
    if (!isMainThread) return leave_promises(); // workers are announced by their main thread's inspector
    const inspector = inspector_of_node();
    if (!announce(fifo, inspector)) return;
    keep_variables();
    Object.defineProperty(globalThis, LOADER, { value: module.constructor, configurable: true });
    inspector.waitForDebugger();
    delete globalThis[LOADER];
    const passed = globalThis.__stillframe_passed;
    delete globalThis.__stillframe_passed;
    leave_promises(globalThis[PROMISES]);
    delete globalThis[PROMISES];
    if (passed) passed(''); // an order to run that came before we waited was lost, so we say that one was heard
  }

  // The program sees the environment of a plain run; Node's own code, too: it runs tests and clusters in another way where
  // it finds an option of the inspector there.
  function be_plain() {
    const plain = process.env.STILLFRAME_NODE_OPTIONS;
    if (plain) process.env.NODE_OPTIONS = plain;
    else delete process.env.NODE_OPTIONS;
    for (const name of OURS) delete process.env[name];
  }

  // Programs that look through the modules that were loaded find their own.
  function forget_us() {
    const { _cache, _pathCache } = module.constructor;
    delete _cache[__filename];
    for (const key of Object.keys(_pathCache)) if (_pathCache[key] === __filename) delete _pathCache[key];
  }

  // To tell which calls started a callback, Node's inspector hooks into everything asynchronous. Of promises V8 knows that by
  // itself: there the hook only takes time, and marks them with symbols that a program prints along with them (Node 20).
  // `ours` are the hooks in their place, where somebody wants to know who awaits what.
  function leave_promises(ours) {
    if (warns_of_bindings() || is_beyond_22()) {
      if (ours) require('v8').promiseHooks.createHook(ours);
      return;
    }
    const { setPromiseHooks } = binding('async_wrap');
    const { init, before, after, settled } = ours || {};
    if (setPromiseHooks) setPromiseHooks(init, before, after, settled);
  }

  // Code that V8 has optimised forgets what the lines ahead do not use: where it is held then, by what it throws or below
  // somebody else's breakpoint, V8 tells such variables as `undefined` (Node 18 and 20), or not at all. Maglev, which Node 24
  // has, cannot be told to keep them; Turbofan can.
  function keep_variables() {
    const { setFlagsFromString } = warns_of_bindings() || is_beyond_22() ? require('v8') : binding('v8');
    setFlagsFromString('--no-analyze-environment-liveness');
    if (is_beyond_22()) setFlagsFromString('--no-maglev');
  }

  function is_beyond_22() { // Node 24 has no bindings for what follows
    return Number.parseInt(process.versions.node, 10) > 22;
  }

  // Of some Node 18 to 22 warns.
  function binding(name) {
    const warned = Object.getOwnPropertyDescriptor(process, 'noDeprecation');
    Object.defineProperty(process, 'noDeprecation', { value: true, configurable: true, writable: true });
    try {
      return process.binding(name);
    } finally {
      if (warned) Object.defineProperty(process, 'noDeprecation', warned);
      else delete process.noDeprecation;
    }
  }

  // Or refuses them, as to programs that may do only what they are permitted.
  function warns_of_bindings() {
    if (process.permission !== undefined) return true;
    return process.execArgv.includes('--pending-deprecation') || process.env.NODE_PENDING_DEPRECATION === '1';
  }

  // Node's own module for it loads those for workers and streams.
  function inspector_of_node() {
    if (warns_of_bindings()) return require('inspector');
    const { open, url, waitForDebugger } = process.binding('inspector');
    return { open, url, waitForDebugger, close: process._debugEnd };
  }

  function announce(fifo, inspector) {
    const fs = require('fs');
    let fd, opened;
    try {
      fd = fs.openSync(fifo, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    } catch (error) {
      if (error.code === 'ERR_ACCESS_DENIED') throw new Error(`to be debugged with --permission it needs --allow-fs-write=${fifo.replace(/[^/]*\/[^/]*$/, "stillframe-*")}, too`);
      return false; // nobody listens any more
    }
    try {
      if (inspector.url() === undefined) opened = inspector.open(0, '127.0.0.1') || true;
      const hello = {
        pid: process.pid,
        ppid: process.ppid,
        url: inspector.url(),
        program: process.argv[1] || '',
        argv: [...process.execArgv, ...process.argv.slice(1)].map((word) => word.slice(0, 200)).slice(0, 12),
        version: process.versions.node,
      };
      fs.writeSync(fd, JSON.stringify(hello) + '\n');
      return true;
    } catch (error) {
      if (opened) inspector.close();
      if (error instanceof Error && error.code !== 'EPIPE')
        process.emitWarning(`Stillframe cannot debug this process: ${error.message}`);
      return false; // nobody listens any more; or Node's own runner of tests, which throws the text that it has no inspector
    } finally {
      fs.closeSync(fd);
    }
  }

  // Children are followed whatever environment the program gives them. A program that reads what its child says on standard
  // error reads the child's own words only, as in a plain run.
  function mind_children(fifo) {
    const lead = leading(fifo);
    const mind = () => mind_spawn(lead);
    const loaded = process.moduleLoadList;
    if (warns_of_bindings() || !loaded || loaded.includes('NativeModule internal/child_process')) mind();
    else before_first_child(mind);
    if (!warns_of_bindings()) mind_spawn_sync(lead);
  }

  function mind_spawn(lead) {
    const { ChildProcess } = (process.getBuiltinModule || require)('child_process');
    const spawn = ChildProcess.prototype.spawn;
    ChildProcess.prototype.spawn = {
      spawn(options) {
        const result = Reflect.apply(spawn, this, [lead(options)]);
        if (this.stderr) filter(this.stderr);
        return result;
      },
    }.spawn;
  }

  // A child is made of a native one, before it is told what to run.
  function before_first_child(act) {
    const binding = process.binding('process_wrap');
    binding.Process = new Proxy(binding.Process, {
      construct(target, words) {
        const now = act;
        act = undefined;
        if (now) now();
        return Reflect.construct(target, words);
      },
    });
  }

  function mind_spawn_sync(lead) {
    const binding = process.binding('spawn_sync'); // what spawnSync, execSync and execFileSync have in common
    const run = binding.spawn;
    binding.spawn = (options) => {
      const result = run(lead(options));
      if (result.output && result.output[2]) result.output[2] = without_own_words(result.output[2]);
      return result;
    };
  }

  // Adds to the environment of a child what leads it here.
  function leading(fifo) {
    const mark = process.env.STILLFRAME_MARK;
    const word = /[\s"\\]/.test(__filename) ? `"${__filename.replace(/[\\"]/g, '\\$&')}"` : __filename;
    const flags = `--require ${word} --inspect-publish-uid=stderr`;
    return (options) => {
      if (!options || !Array.isArray(options.envPairs)) return options;
      const given = new Map(options.envPairs.map((pair) => [pair.slice(0, pair.indexOf('=', 1)), pair]));
      const plain = (given.get('NODE_OPTIONS') || '').slice('NODE_OPTIONS='.length);
      if (plain.includes(flags)) return options; // of a program that passes on what it was started with
      given.set('NODE_OPTIONS', `NODE_OPTIONS=${flags} ${plain}`.trim());
      given.set('STILLFRAME_NODE_OPTIONS', `STILLFRAME_NODE_OPTIONS=${plain}`);
      given.set('STILLFRAME_NODE', `STILLFRAME_NODE=${fifo}`);
      if (mark) given.set('STILLFRAME_MARK', `STILLFRAME_MARK=${mark}`);
      return { ...options, envPairs: [...given.values()] };
    };
  }

  function filter(stream) {
    const push = stream.push;
    const value = (chunk, encoding) => {
      const rest = Buffer.isBuffer(chunk) ? without_own_words(chunk) : chunk;
      if (rest && rest !== chunk && rest.length === 0) return true;
      return Reflect.apply(push, stream, [rest, encoding]);
    };
    Object.defineProperty(stream, 'push', { value, configurable: true, writable: true, enumerable: false });
  }

  function without_own_words(chunk) {
    if (!chunk.includes('ebugger') && !chunk.includes('For help, see: ')) return chunk;
    const text = chunk.toString('latin1');
    const rest = text.replace(OWN_WORDS, '');
    return rest.length === text.length ? chunk : Buffer.from(rest, 'latin1');
  }

  come_up();
})();
