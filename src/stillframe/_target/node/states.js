// Classes whose state is in no field that a user knows: how each is told, by built-in functions alone, taken before the program
// could replace them. The classes of the web are looked for when a value of such a name is met: Node loads them when they are
// first asked for, and a program that has none of them is not made to.
(function (load) {
  'use strict';
  const { isProxy } = load('util').types;
  const apply = Reflect.apply;
  const descriptor = Object.getOwnPropertyDescriptor;
  const prototype = Object.getPrototypeOf;
  const MOST = 50; // headers or entries of a form that are told
  const PLAIN = /^[A-Za-z_$][\w$]*$/;
  const NODES = /\bwebidl\b|\bERR_[A-Z]|\[k[A-Z]\w+\]/; // in the text of Node's own classes, and not of what a program may put in their place
  const functionText = Function.prototype.toString;
  const searchText = URLSearchParams.prototype.toString;
  const deref = WeakRef.prototype.deref;

  const call = (method) => (value) => apply(method, value, []);

  // The getter of a class or of one that it extends.
  function getter(made, name) {
    for (let at = made.prototype; at !== null; at = prototype(at)) if (descriptor(at, name)) return descriptor(at, name).get;
    return undefined;
  }

  // Fields by the getters of these names; a class of an older Node may lack some.
  function read(made, ...names) {
    const known = names.filter((name) => getter(made, name)).map((name) => [name, call(getter(made, name))]);
    return (value) => known.map(([name, get]) => [name, get(value)]);
  }

  // What a collection of pairs holds, each pair as a field.
  function pairs(made) {
    const entries = made.prototype.entries;
    return (value) => {
      const found = [];
      const walk = apply(entries, value, []);
      for (let step = walk.next(); !step.done && found.length < MOST; step = walk.next()) found.push([word(step.value[0]), step.value[1]]);
      return found;
    };
  }

  function word(name) {
    return PLAIN.test(name) ? name : `'${name}'`;
  }

  const known = new Map([
    [URL.prototype, read(URL, 'href')],
    [URLSearchParams.prototype, (value) => [['text', apply(searchText, value, [])]]],
    [WeakRef.prototype, (value) => [['ref', apply(deref, value, [])]]],
    [DataView.prototype, read(DataView, 'byteOffset', 'byteLength', 'buffer')],
  ]);

  const WEB = {
    Headers: pairs,
    FormData: pairs,
    Request: (made) => read(made, 'method', 'url', 'headers', 'bodyUsed'),
    Response: (made) => read(made, 'status', 'statusText', 'url', 'headers', 'bodyUsed'),
    Blob: (made) => read(made, 'size', 'type'),
    File: (made) => read(made, 'name', 'size', 'type'),
    AbortSignal: (made) => read(made, 'aborted', 'reason'),
    AbortController: (made) => read(made, 'signal'),
    Event: (made) => read(made, 'type', 'defaultPrevented'),
    CustomEvent: (made) => read(made, 'detail'),
    MessageEvent: (made) => read(made, 'data'),
    TextDecoder: (made) => read(made, 'encoding'),
    ReadableStream: (made) => read(made, 'locked'),
    WritableStream: (made) => read(made, 'locked'),
  };
  // Of Node's own module, whose objects have dozens of fields: these first, and those that frameworks put on a request.
  const HTTP = {
    IncomingMessage: (made) => {
      const headers = call(getter(made, 'headers'));
      const isThere = ([, held]) => held !== undefined && held !== null;
      return (value) => [...REQUEST.map((name) => [name, (descriptor(value, name) || {}).value]), ['headers', headers(value)]].filter(isThere);
    },
    ServerResponse: (made) => {
      const [headers, isSent] = [call(made.prototype.getHeaders), call(getter(made, 'headersSent'))];
      const status = (value) => (descriptor(value, 'statusCode') || descriptor(made.prototype, 'statusCode')).value;
      return (value) => [['statusCode', status(value)], ['headers', { ...headers(value) }], ['headersSent', isSent(value)]];
    },
  };
  const REQUEST = ['method', 'url', 'statusCode', 'params', 'query', 'body'];
  const asked = new Set();

  // Whether a class of this name is one of Node's, which is then known by its prototype.
  function look(at) {
    const made = descriptor(at, 'constructor');
    const name = made && typeof made.value === 'function' ? descriptor(made.value, 'name') : undefined;
    const own = name && typeof name.value === 'string' && (Object.hasOwn(WEB, name.value) || Object.hasOwn(HTTP, name.value)) ? name.value : undefined;
    if (own === undefined || asked.has(own)) return known.get(at);
    asked.add(own);
    try {
      const real = own in HTTP ? load('http')[own] : globalThis[own];
      if (own in HTTP) known.set(real.prototype, HTTP[own](real));
      else if (NODES.test(apply(functionText, real, []))) known.set(real.prototype, WEB[own](real));
    } catch (error) { // a Node without it, or something else that a program has put there
    }
    return known.get(at);
  }

  // The fields of such a value as [name, value]; undefined of any other.
  return function stateOf(value) {
    for (let at = prototype(value), hops = 0; at !== null && hops < 20 && !isProxy(at); at = prototype(at), hops++) {
      const state = known.get(at) || look(at);
      if (state === undefined) continue;
      try {
        return state(value);
      } catch (error) { // only made to look like one
        return undefined;
      }
    }
    return undefined;
  };
})
