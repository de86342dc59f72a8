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

  function come_up() {
    const { isMainThread } = require('worker_threads');
    const fifo = process.env.STILLFRAME_NODE;
    if (!fifo) return;
    const alone = process.env.STILLFRAME_NODE_ALONE === '1';
    if (!alone) mind_children();
    if (!isMainThread) return; // workers are announced by their main thread's inspector
    if (alone) be_plain();
    if (RUNNERS.test(process.argv[1] || '')) return;
    if (announce(fifo)) require('inspector').waitForDebugger();
  }

  // Children are not followed: the program sees the environment of a plain run.
  function be_plain() {
    const plain = process.env.STILLFRAME_NODE_OPTIONS;
    if (plain) process.env.NODE_OPTIONS = plain;
    else delete process.env.NODE_OPTIONS;
    delete process.env.STILLFRAME_NODE;
    delete process.env.STILLFRAME_NODE_ALONE;
    delete process.env.STILLFRAME_NODE_OPTIONS;
  }

  function announce(fifo) {
    const fs = require('fs');
    const inspector = require('inspector');
    let fd;
    try {
      fd = fs.openSync(fifo, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    } catch {
      return false; // nobody listens any more
    }
    try {
      if (inspector.url() === undefined) inspector.open(0, '127.0.0.1');
      const hello = {
        pid: process.pid,
        ppid: process.ppid,
        url: inspector.url(),
        argv: [...process.execArgv, ...process.argv.slice(1)].map((word) => word.slice(0, 200)).slice(0, 12),
        version: process.versions.node,
      };
      fs.writeSync(fd, JSON.stringify(hello) + '\n');
      return true;
    } catch (error) {
      process.emitWarning(`Stillframe cannot debug this process: ${error.message}`);
      return false;
    } finally {
      fs.closeSync(fd);
    }
  }

  // Children are followed whatever environment the program gives them. A program that reads what its child says on standard
  // error reads the child's own words only, as in a plain run.
  function mind_children() {
    const { ChildProcess } = require('child_process');
    const lead = leading();
    const spawn = ChildProcess.prototype.spawn;
    ChildProcess.prototype.spawn = {
      spawn(options) {
        const result = Reflect.apply(spawn, this, [lead(options)]);
        if (this.stderr) filter(this.stderr);
        return result;
      },
    }.spawn;
    if (process.execArgv.includes('--pending-deprecation') || process.env.NODE_PENDING_DEPRECATION === '1') return;
    const binding = process.binding('spawn_sync'); // what spawnSync, execSync and execFileSync have in common
    const run = binding.spawn;
    binding.spawn = (options) => {
      const result = run(lead(options));
      if (result.output && result.output[2]) result.output[2] = without_own_words(result.output[2]);
      return result;
    };
  }

  // Adds to the environment of a child what leads it here, where the program left it out.
  function leading() {
    const ours = ['STILLFRAME_NODE', 'STILLFRAME_MARK'].filter((name) => process.env[name]).map((name) => `${name}=${process.env[name]}`);
    const word = /[\s"\\]/.test(__filename) ? `"${__filename.replace(/[\\"]/g, '\\$&')}"` : __filename;
    const flags = `--require ${word} --inspect-publish-uid=stderr`;
    return (options) => {
      const given = options && options.envPairs;
      if (!Array.isArray(given)) return options;
      const pairs = given.filter((pair) => !ours.some((own) => pair.startsWith(own.split('=', 1)[0] + '=')));
      const at = pairs.findIndex((pair) => pair.startsWith('NODE_OPTIONS='));
      const before = at < 0 ? '' : pairs.splice(at, 1)[0].slice('NODE_OPTIONS='.length);
      const options_of_node = before.includes(flags) ? before : `${flags} ${before}`.trim();
      return { ...options, envPairs: [...pairs, ...ours, `NODE_OPTIONS=${options_of_node}`] };
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
