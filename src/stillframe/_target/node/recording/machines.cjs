'use strict';
// Texts that programs compile themselves, as test runners do with the files under test: rewritten like any other, in whichever
// of their contexts they run.
const { fileURLToPath } = require('url');
const vm = require('vm');

const R = '__stillframe_r';

// `made` answers the text to compile for a file's, or the very same.
function mindMachines(made, recorder) {
  const { Script, compileFunction, createContext, runInContext, runInThisContext } = vm;
  const text = (code, options) => {
    const [file, columns] = fileOf(options);
    return file && typeof code === 'string' ? made(code, file, columns) : code;
  };
  vm.Script = new Proxy(Script, {
    construct: (target, [code, options, ...rest], newTarget) => Reflect.construct(target, [text(code, options), options, ...rest], newTarget),
  });
  vm.compileFunction = function (code, params, options, ...rest) {
    return Reflect.apply(compileFunction, this, [text(code, options), params, options, ...rest]);
  };
  vm.runInThisContext = function (code, options, ...rest) {
    return Reflect.apply(runInThisContext, this, [text(code, options), options, ...rest]);
  };
  vm.runInContext = function (code, context, options, ...rest) {
    return Reflect.apply(runInContext, this, [text(code, options), context, options, ...rest]);
  };
  vm.createContext = function (...words) {
    const context = Reflect.apply(createContext, this, words);
    Object.defineProperty(context, R, { value: recorder, configurable: true });
    return context;
  };
}

// The file that a text is said to be of, and how many columns of its first line are not that file's.
function fileOf(options) {
  const name = typeof options === 'string' ? options : options && options.filename;
  if (typeof name !== 'string' || !/^(\/|[A-Za-z]:[\\/]|file:\/\/)/.test(name)) return [];
  const columns = typeof options === 'object' && options.columnOffset < 0 ? -options.columnOffset : 0;
  return [name.startsWith('file:') ? fileURLToPath(name) : name.replace(/\?.*$/, ''), columns];
}

module.exports = { mindMachines };
