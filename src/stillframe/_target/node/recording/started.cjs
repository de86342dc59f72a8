'use strict';
// Nodes and workers that the program starts where the recorder does not come along are told of: what runs there is heard of by
// nobody. It comes by two variables of the environment, which they may be given without.
const path = require('path');
const threads = require('worker_threads');

const NODE = /^node(js)?(\.exe)?$/;
const BOOT = /recording[\\/]+boot\.cjs/;
const PERMITS = /^--(experimental-)?permission$/;
const MOST = 3;
const WORDS = 80; // characters of another program's command

function mindStarted(journal) {
  const said = new Set();
  const tell = (what, why) => {
    const text = `${what}, which the program started, came up without the recorder (${why}): what ran in it is not recorded`;
    if (said.size < MOST && !said.has(text)) journal.tell(['note', text, true]);
    said.add(text);
  };
  const others = new Set();
  const beside = (command) => {
    if (others.size < MOST && !others.has(command)) journal.tell(['beside', command]);
    others.add(command);
  };
  mindProcesses((options) => {
    try {
      lookAtProcess(options, tell, beside);
    } catch { // whatever it is given: Node itself will say what is wrong with it
    }
  });
  threads.Worker = new Proxy(threads.Worker, {
    construct(target, words, newTarget) {
      const made = Reflect.construct(target, words, newTarget);
      lookAtWorker(words, tell);
      return made;
    },
  });
}

// Where all ways to start one end: the asynchronous ones in the first, the others in the second.
function mindProcesses(look) {
  const warns = process.permission !== undefined || process.execArgv.includes('--pending-deprecation') || process.env.NODE_PENDING_DEPRECATION === '1';
  const { prototype } = warns ? require('child_process').ChildProcess : process.binding('process_wrap').Process;
  mind(prototype, look);
  if (!warns) mind(process.binding('spawn_sync'), look);
}

function mind(holder, look) {
  const { spawn } = holder;
  holder.spawn = {
    spawn(options, ...rest) {
      look(options);
      return Reflect.apply(spawn, this, [options, ...rest]);
    },
  }.spawn;
}

function lookAtProcess(options, tell, beside) {
  const name = path.basename(options.file);
  if (!NODE.test(name) && options.file !== process.execPath) {
    beside([name, ...options.args.slice(1)].join(' ').slice(0, WORDS));
    return;
  }
  const words = options.args.slice(1);
  const at = words.findIndex((word) => !word.startsWith('-'));
  const flags = at < 0 ? words : words.slice(0, at);
  const isCode = flags.some((word) => /^-(e|p|pe)$|^--(eval|print)$/.test(word));
  const what = [name, isCode ? '-e' : at < 0 ? '' : path.basename(words[at])].join(' ').trim();
  if (flags.some((word) => PERMITS.test(word))) tell(what, 'under --permission');
  else if (!leadsHere(new Map(options.envPairs.map((pair) => [pair.slice(0, pair.indexOf('=', 1)), pair])))) tell(what, 'with an environment of its own');
}

function lookAtWorker([file, options], tell) {
  const given = options && options.env;
  const isOwn = Boolean(given) && typeof given === 'object';
  const environment = new Map(Object.entries(isOwn ? given : process.env));
  if (isOwn ? leadsHere(environment) : environment.has('STILLFRAME_RECORD_NODE')) return;
  tell(options && options.eval ? 'a worker' : `the worker ${path.basename(String(file))}`, 'with an environment of its own');
}

const leadsHere = (environment) => environment.has('STILLFRAME_RECORD_NODE') && BOOT.test(environment.get('NODE_OPTIONS') || '');

module.exports = { mindStarted };
