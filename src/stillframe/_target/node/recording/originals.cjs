'use strict';
// Where the sources that a source map names are, as `backends/cdp/originals.py` finds them for the debugger.
const fs = require('fs');
const path = require('path');
const { fileURLToPath } = require('url');

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]+:/; // two letters at least: `C:` is a drive
const ROOTS = /^(?:\.\/|\[project\]\/)+/; // webpack's and Turbopack's words for the project's directory
const MOST_ANCESTORS = 20;

class Originals {
  // `folder` is that of the map, which relative names are relative to; `file` what runs.
  constructor(file, folder) {
    this.folder = folder;
    this.ancestors = ancestors(path.dirname(file));
    this.found = new Map();
  }

  resolve(source, root) {
    const whole = root && !source.startsWith('/') && !SCHEME.test(source) ? `${root.replace(/\/$/, '')}/${source}` : source;
    if (!this.found.has(whole)) this.found.set(whole, real(this.placed(whole)));
    return this.found.get(whole);
  }

  placed(source) {
    if (/^file:/i.test(source)) return fileURLToPath(source);
    if (SCHEME.test(source)) return this.underAnAncestor(source);
    const file = path.resolve(this.folder, source);
    if (!/[%?]/.test(file)) return file;
    const bare = file.split('?', 1)[0]; // Vite's parts of a component: `a.vue?type=script`
    return [file, decoded(file), bare, decoded(bare)].find(isFile) || file;
  }

  // A bundler's made-up address (`webpack://shop/./src/a.ts?1f3b`): the file in the nearest directory that has it. Its first part
  // is the name of a package, and no directory. Where there is no such file it stays as it is.
  underAnAncestor(url) {
    const readable = url.split('?', 1)[0];
    const [name, ...parts] = readable.slice(readable.indexOf('://') + 3).split('/');
    if (parts[0] === '') return isFile(path.normalize(parts.join('/'))) ? path.normalize(parts.join('/')) : readable;
    const inside = (name.startsWith('@') ? parts.slice(1) : parts).join('/').replace(ROOTS, '');
    const rest = path.normalize(decoded(inside)).replace(/^~\//, 'node_modules/'); // webpack 1's word for where packages are
    const found = this.ancestors.map((folder) => path.join(folder, rest)).find(isFile);
    return found === undefined ? readable : found;
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    return text;
  }
}

function isFile(file) {
  return (fs.statSync(file, { throwIfNoEntry: false }) || { isFile: () => false }).isFile();
}

function real(file) {
  try {
    return fs.realpathSync(file);
  } catch (error) { // of a map whose sources were not shipped
    return file;
  }
}

function ancestors(folder) {
  const found = [folder];
  while (path.dirname(folder) !== folder && found.length < MOST_ANCESTORS) found.push(folder = path.dirname(folder));
  return found;
}

module.exports = { Originals };
