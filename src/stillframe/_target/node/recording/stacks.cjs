'use strict';
// Who called: function, file and line of each frame of the program's own, the innermost first, as people know their files.
const { fileURLToPath } = require('url');

const OURS = __dirname;
const mapped = new Map(); // the places of texts with a source map, by file

function know(places) {
  if (places.map) mapped.set(places.file, places);
}

// Up to `most` frames, without `skip` of ours and without Node's own.
function callers(skip, most) {
  const { prepareStackTrace, stackTraceLimit } = Error;
  let found = [];
  try {
    Error.stackTraceLimit = most + 30;
    Error.prepareStackTrace = (_, sites) => sites.map(told).filter(Boolean);
    const holder = {};
    Error.captureStackTrace(holder);
    found = holder.stack;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
  return Array.isArray(found) ? found.slice(skip, skip + most) : [];
}

function told(site) {
  const name = site.getFileName();
  if (!name || name.startsWith('node:') || name.startsWith(OURS)) return undefined;
  const file = name.startsWith('file://') ? fileURLToPath(name) : name;
  const places = mapped.get(file);
  const line = site.getLineNumber() || 0;
  const original = places ? places.original(line - 1, 0) || places.original(line - 1, Infinity) : undefined;
  return [functionOf(site), ...(original || [file, line])];
}

function functionOf(site) {
  const own = site.getFunctionName();
  if (own) return own.replace(/^(Object|Module|exports|module\.exports)\./, '');
  return site.isToplevel() || site.getTypeName() === 'Object' ? '<module>' : '<anonymous>';
}

module.exports = { callers, know };
