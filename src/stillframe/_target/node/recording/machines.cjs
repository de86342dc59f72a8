'use strict';
// Texts that programs compile themselves, as test runners do with the files under test: rewritten like any other, in whichever
// of their contexts they run.
const { fileURLToPath } = require('url');
const vm = require('vm');

const R = '__stillframe_r';
const { runInContext: realRunInContext } = vm;

// `made` answers the text to compile for a file's, or the very same; a script's unless it is told that it is a module's.
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
    return lent(Reflect.apply(createContext, this, words), recorder);
  };
  mindNewContexts(text, recorder);
  if (vm.SourceTextModule) mindTextModules(made);
}

// Node makes these contexts by itself, past `createContext`.
function mindNewContexts(text, recorder) {
  const { prototype } = vm.Script;
  const { runInNewContext } = vm;
  const ofScript = prototype.runInNewContext;
  prototype.runInNewContext = {
    runInNewContext(given = {}, ...rest) {
      if (!Object.isExtensible(given)) return this.runInContext(vm.createContext(given), ...rest); // Node 22's DONT_CONTEXTIFY
      return Reflect.apply(ofScript, this, [lent(given, recorder), ...rest]);
    },
  }.runInNewContext;
  vm.runInNewContext = function (code, given = {}, options, ...rest) {
    if (!Object.isExtensible(given)) return vm.runInContext(code, vm.createContext(given), options);
    return Reflect.apply(runInNewContext, this, [text(code, options), lent(given, recorder), options, ...rest]);
  };
}

// ECMAScript modules of `--experimental-vm-modules`, as Jest makes of them.
function mindTextModules(made) {
  const { SourceTextModule } = vm;
  vm.SourceTextModule = new Proxy(SourceTextModule, {
    construct: (target, [code, options, ...rest], newTarget) => {
      const [file] = fileOf(options && options.identifier);
      const text = file && typeof code === 'string' ? made(code, file, 0, 'module') : code;
      return Reflect.construct(target, [text, options, ...rest], newTarget);
    },
  });
}

// A context in which what was rewritten finds the recorder: of one that was frozen, by what all of its objects have.
function lent(context, recorder) {
  const holder = Object.isExtensible(context) ? context : vm.isContext(context) && realRunInContext('Object.prototype', context);
  if (holder) Object.defineProperty(holder, R, { value: recorder, configurable: true });
  return context;
}

// The file that a text is said to be of, and how many columns of its first line are not that file's.
function fileOf(options) {
  const name = typeof options === 'string' ? options : options && options.filename;
  if (typeof name !== 'string' || !/^(\/|[A-Za-z]:[\\/]|file:\/\/)/.test(name)) return [];
  const columns = typeof options === 'object' && options.columnOffset < 0 ? -options.columnOffset : 0;
  return [name.startsWith('file:') ? fileURLToPath(name) : name.replace(/\?.*$/, ''), columns];
}

module.exports = { mindMachines };
