'use strict';
// Who called: function, file and line of each frame of the program's own, the innermost first, as people know their files.
const { fileURLToPath } = require('url');
const { original } = require('./moved.cjs');

const OURS = __dirname;
let wanted = () => true;

// Only frames in such files are told.
function only(isUsers) {
  wanted = isUsers;
}

// Up to `most` frames, without `skip` of ours and without Node's own.
function callers(skip, most) {
  const { prepareStackTrace, stackTraceLimit } = Error;
  let found = [];
  try {
    Error.stackTraceLimit = most + 60;
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
  if (!wanted(file)) return undefined;
  const line = site.getLineNumber() || 0;
  return [functionOf(site), ...(original(file, line, site.getColumnNumber() || 1) || [file, line])];
}

function functionOf(site) {
  const own = site.getFunctionName();
  if (own) return own.replace(/^(Object|Module|exports|module\.exports)\./, '');
  return site.getEnclosingLineNumber() > 1 ? '<anonymous>' : '<module>';
}

module.exports = { callers, only };
