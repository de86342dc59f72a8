'use strict';
// Preloaded into every Node process of a debugged family: opens its inspector, tells Stillframe where, waits for it.
//
// STILLFRAME_NODE names a FIFO in a private directory. A line written there says who we are; the answer is a debugger that
// connects and lets us run. Nobody reads the FIFO any more: the write fails at once and the program runs on undebugged.
// Package runners are not what anybody wants to debug: they pass on the environment and are left alone.

(function come_up() {
  const { isMainThread } = require('worker_threads');
  const fifo = process.env.STILLFRAME_NODE;
  if (!isMainThread || !fifo) return; // workers are announced by their main thread's inspector

  const RUNNERS = /(^|[\\/])(npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack|tsx)(-cli)?(\.[cm]?js)?$|[\\/]tsx[\\/]dist[\\/]cli\.[cm]js$/;
  const alone = process.env.STILLFRAME_NODE_ALONE === '1';
  if (alone) { // children are not followed: the program sees the environment of a plain run
    const plain = process.env.STILLFRAME_NODE_OPTIONS;
    if (plain) process.env.NODE_OPTIONS = plain;
    else delete process.env.NODE_OPTIONS;
    delete process.env.STILLFRAME_NODE;
    delete process.env.STILLFRAME_NODE_ALONE;
    delete process.env.STILLFRAME_NODE_OPTIONS;
  }
  if (RUNNERS.test(process.argv[1] || '')) return;

  const fs = require('fs');
  const inspector = require('inspector');
  let fd;
  try {
    fd = fs.openSync(fifo, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
  } catch {
    return; // nobody listens any more
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
  } catch (error) {
    process.emitWarning(`Stillframe cannot debug this process: ${error.message}`);
    return;
  } finally {
    fs.closeSync(fd);
  }
  inspector.waitForDebugger();
})();
