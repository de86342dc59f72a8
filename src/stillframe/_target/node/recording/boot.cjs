'use strict';
// Preloaded into every Node process of a recorded run: what it loads is rewritten where that was asked for, and tells of itself
// in a file of its own. No debugger is there; a process in which nothing was asked for runs as it is.

(function () {
  const RUNNERS = /(^|[\\/])(npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack|tsx)(-cli)?(\.[cm]?js)?$|[\\/]tsx[\\/]dist[\\/]cli\.[cm]js$/;
  const LOADERS_FROM = 1_000_000; // the numbers of functions that were rewritten on another thread

  function comeUp() {
    const folder = process.env.STILLFRAME_RECORD_NODE;
    if (globalThis.__stillframe_r) return; // Node 24 hands --require on to what --test starts, which finds it in its environment, too
    if (!folder || RUNNERS.test(process.argv[1] || '') || isLoaderThread()) return;
    const fs = require('fs');
    const path = require('path');
    let ask;
    try {
      ask = JSON.parse(fs.readFileSync(path.join(folder, 'ask.json'), 'utf8'));
    } catch (error) {
      return; // the run is over, and this one has outlived it
    }
    record(ask, folder);
    forgetUs(path);
  }

  // Node 18 and 20 preload into the thread that loads modules, too.
  function isLoaderThread() {
    const { isMainThread, isInternalThread, parentPort } = require('worker_threads');
    return isInternalThread === true || (!isMainThread && parentPort === null);
  }

  function record(ask, folder) {
    const { Journal } = require('./journal.cjs');
    const { threadId } = require('worker_threads');
    const journal = new Journal(folder);
    const thread = threadId ? `worker ${threadId}` : '';
    journal.tell(['hello', process.pid, process.ppid, `Node ${process.versions.node}`, 'rewriting', process.argv.slice(1, 12).map((word) => word.slice(0, 200))]);
    const { Rewriter } = require('./rewriter.cjs');
    const rewriter = new Rewriter(ask, 1);
    for (const [what, why] of rewriter.wrong) journal.tell(['note', `${what} is no expression of JavaScript: ${why}`]);
    if (rewriter.unreadable) {
      journal.tell(['note', `nothing is recorded in this process: ${rewriter.unreadable}`]);
      return;
    }
    const recorder = recorderFor(ask, rewriter, journal, thread);
    Object.defineProperty(globalThis, '__stillframe_r', { value: recorder, configurable: true });
    process.on('exit', () => journal.end());
    const made = (text, file, type, columns) => {
      const found = rewriter.rewrite(text, file, type, columns);
      if (found) recorder.take(found);
      return found ? found.text : text;
    };
    require('./started.cjs').mindStarted(journal);
    require('./moved.cjs').mindTexts();
    mindScripts(made, journal);
    require('./machines.cjs').mindMachines((text, file, columns, type = 'script') => made(text, file, type, columns), recorder);
    mindModules(made, ask, journal);
    if (process._eval && isMentioned(ask.trace, process._eval)) journal.tell(['note', 'code that is given by -e is not recorded: put it into a file']);
  }

  const isMentioned = (trace, code) => Boolean(trace && trace.where.function && code.includes(trace.where.function.replace(/^.*[.#\s]/, '')));

  function recorderFor(ask, rewriter, journal, thread) {
    const { Frames } = require('./frames.cjs');
    const { Place } = require('./tallies.cjs');
    const { know } = require('./moved.cjs');
    const { only } = require('./stacks.cjs');
    only((file) => rewriter.isUsers(file));
    const recorder = rewriter.trace ? new Frames(rewriter.trace, ask.text, journal, thread) : {};
    const places = [];
    for (const each of rewriter.probes) places[each.place] = new Place(each, journal, ask.text ?? 100, thread);
    recorder.places = places;
    recorder.take = ({ said, metas, moved }) => {
      for (const [id, meta] of metas) recorder.keep(id, meta);
      for (const each of said) journal.tell(each);
      if (moved) know(moved);
    };
    recorder.learn = (text, length) => recorder.take(shifted(JSON.parse(text), length));
    return recorder;
  }

  // The words by which a text tells of itself stand in it, too, and move what is behind them.
  function shifted({ said, metas, moved, begin }, length) {
    return { said, metas, moved: moved && { ...moved, edits: [[begin, ' '.repeat(length)], ...moved.edits] } };
  }

  // What a text of TypeScript is without its types, in Node's words; it finds out by itself where it has none.
  const COMPILES_TO = new Map([['commonjs-typescript', 'commonjs'], ['module-typescript', 'module'], ['typescript', undefined]]);

  // CommonJS, TypeScript that was compiled to it on the way included.
  function mindScripts(made, journal) {
    const Module = module.constructor;
    const compile = Module.prototype._compile;
    let isSaid = Boolean(Module.registerHooks);
    Module.prototype._compile = function (content, filename, ...rest) {
      const isText = typeof content === 'string' && typeof filename === 'string';
      const isModule = rest[0] === 'module'; // one that is required, which Node 20.19 has come to allow
      if (isModule && !isSaid && /^\s*(import|export)\b[^;]*?['"]\.{1,2}\//m.test(content)) {
        isSaid = true;
        journal.tell(['note', `Node ${process.versions.node} shows nobody the modules that a required module imports: those are not recorded (from 22.15 on they are)`]);
      }
      if (isText && COMPILES_TO.has(rest[0])) {
        const plain = withoutTypes(require('module'), content, filename);
        const text = plain === undefined ? plain : made(plain, filename, rest[0] === 'module-typescript' ? 'module' : 'script');
        if (text !== plain) return Reflect.apply(compile, this, [text, filename, COMPILES_TO.get(rest[0]), ...rest.slice(1)]);
        return Reflect.apply(compile, this, [content, filename, ...rest]);
      }
      const text = isText ? made(content, filename, isModule ? 'module' : 'script') : content;
      return Reflect.apply(compile, this, [text, filename, ...rest]);
    };
  }

  function mindModules(made, ask, journal) {
    const Module = require('module');
    if (Module.registerHooks) registerHere(Module, made);
    else if (Module.register) registerThere(Module, ask);
    else journal.tell(['note', `Node ${process.versions.node} lets nobody see the modules that it imports: what is in them is not recorded`]);
    Module.syncBuiltinESMExports();
  }

  // From Node 22.15 on, on the program's own thread.
  function registerHere(Module, made) {
    const { fileURLToPath } = require('url');
    Module.registerHooks({
      load(url, context, nextLoad) {
        const loaded = nextLoad(url, context);
        if (!/^module/.test(loaded.format) || !url.startsWith('file:') || loaded.source == null) return loaded;
        const given = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
        const text = loaded.format === 'module-typescript' ? withoutTypes(Module, given, fileURLToPath(url)) : given;
        const source = text === undefined ? text : made(text, fileURLToPath(url), 'module');
        return source === text ? loaded : { ...loaded, format: 'module', source };
      },
    });
  }

  // As Node itself takes them out, or writes what they stand for in their place; without its word that this is new, which it does
  // not say of what it does itself. Undefined where it cannot: it will say so.
  function withoutTypes(Module, text, file) {
    const { emitWarning } = process;
    const writes = process.features.typescript === 'transform';
    process.emitWarning = (said, ...rest) => {
      if (!String(said).startsWith('stripTypeScriptTypes ')) Reflect.apply(emitWarning, process, [said, ...rest]);
    };
    try {
      return Module.stripTypeScriptTypes(text, writes ? { mode: 'transform', sourceMap: true, sourceUrl: file } : undefined);
    } catch {
      return undefined;
    } finally {
      process.emitWarning = emitWarning;
    }
  }

  // Before that on a thread of Node's own. Whoever registers later sees the text first, so ours comes last again behind each.
  function registerThere(Module, ask) {
    const { pathToFileURL } = require('url');
    const { register } = Module;
    const address = pathToFileURL(require('path').join(__dirname, 'loader.mjs')).href;
    let next = LOADERS_FROM;
    const ours = () => {
      register(address, { data: { ask, firstId: next } });
      next += LOADERS_FROM;
    };
    Module.register = function (...words) {
      const result = Reflect.apply(register, this, words);
      ours();
      return result;
    };
    ours();
  }

  // Programs that look through the modules that were loaded find their own.
  function forgetUs(path) {
    const { _cache, _pathCache } = module.constructor;
    for (const name of Object.keys(_cache)) if (path.dirname(name) === __dirname) delete _cache[name];
    for (const key of Object.keys(_pathCache)) if (path.dirname(_pathCache[key]) === __dirname) delete _pathCache[key];
  }

  comeUp();
})();
