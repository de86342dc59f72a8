// What of a value only V8 knows: private fields, what a settled promise holds, what a proxy stands before, whether a generator is
// done. Asked by a conversation with the inspector that lasts for the question alone, since no JavaScript can see these; nothing
// of the program's is run.
(function (load) {
  'use strict';
  const MOST = 24; // questions within one answer of ours: each takes a fraction of a millisecond
  const functionText = Function.prototype.toString;
  const apply = Reflect.apply;
  const prototype = Object.getPrototypeOf;
  const descriptor = Object.getOwnPropertyDescriptor;
  const isProxy = load('util').types.isProxy;
  const HAND = 'globalThis[globalThis.Symbol.for("stillframe")].hand';
  const hand = [];
  const written = new WeakMap(); // classes to their text, where that may have private fields
  let left = 0;

  function conversation(use) {
    const session = new (load('inspector').Session)();
    session.connect();
    try {
      return use((method, params) => {
        let found;
        session.post(method, params, (error, answer) => { found = error ? undefined : answer; });
        return found;
      });
    } finally {
      session.disconnect();
    }
  }

  // V8's own account of an object: `pick` chooses of it what is to be had as real values, by name.
  function account(value, pick) {
    if (left <= 0) return undefined;
    left -= 1;
    try {
      return conversation((post) => {
        hand[0] = value;
        const held = post('Runtime.evaluate', { expression: HAND, silent: true }).result.objectId;
        const own = { objectId: held, ownProperties: true };
        const object = post('Runtime.getProperties', own).result.find((each) => each.name === '0').value.objectId;
        const picked = pick(post('Runtime.getProperties', { objectId: object, ownProperties: true }));
        const names = picked.map((each) => each.name);
        const words = picked.map(({ value: told }) => {
          if (told === undefined || told.type === 'undefined') return {};
          if (told.objectId !== undefined) return { objectId: told.objectId };
          return 'unserializableValue' in told ? { unserializableValue: told.unserializableValue } : { value: told.value };
        });
        const take = { functionDeclaration: 'function (...found) { this[1] = found; }', objectId: held, arguments: words, silent: true };
        post('Runtime.callFunctionOn', take);
        return names.map((name, index) => [name, hand[1][index], picked[index]]);
      });
    } catch (error) { // where the program is not allowed an inspector
      return undefined;
    } finally {
      hand.length = 0;
    }
  }

  function classText(made) {
    if (!written.has(made)) {
      const text = apply(functionText, made, []);
      written.set(made, text.startsWith('class') && text.includes('#') ? text : '');
    }
    return written.get(made);
  }

  function classTexts(value) {
    let found = typeof value === 'function' ? classText(value) : '';
    for (let at = prototype(value), hops = 0; at !== null && hops < 20 && !isProxy(at); at = prototype(at), hops++) {
      const known = descriptor(at, 'constructor');
      if (known && typeof known.value === 'function' && !isProxy(known.value)) found += classText(known.value);
    }
    return found;
  }

  // Names and values of private fields; undefined where there may be some and they could not be asked for.
  function privates(value) {
    const text = classTexts(value);
    if (!text) return [];
    const found = account(value, (told) => (told && told.privateProperties) || []);
    return found && found.filter(([name, , told]) => told.value && !(told.value.type === 'function' && isMethod(name, text)));
  }

  function isMethod(name, text) {
    return new RegExp(`(?<![.\\w$])${name.replace(/\$/g, '\\$&')}\\s*\\(`, 'u').test(text);
  }

  // What a promise is settled with, as [value]; nothing while it is pending.
  function settled(promise) {
    const isResult = (each) => each.name === '[[PromiseResult]]';
    const isPending = (told) => told.some((each) => each.name === '[[PromiseState]]' && each.value.value === 'pending');
    const found = account(promise, ({ internalProperties: told }) => (isPending(told) ? [] : told.filter(isResult)));
    return found ? found.map(([, value]) => value) : [];
  }

  const named = (told, name) => told.filter((each) => each.name === name);

  // What a proxy stands before and what handles it, as [name, value] each; nothing of one that was revoked.
  function proxied(proxy) {
    const found = account(proxy, ({ internalProperties: told }) => [...named(told, '[[Target]]'), ...named(told, '[[Handler]]')]);
    return found && found[0] && found[0][1] !== null ? found.map(([name, value]) => [name, value]) : [];
  }

  // Whether a generator is suspended, running or closed, and the function that it is of.
  function generated(generator) {
    const pick = ({ internalProperties: told }) => [...named(told, '[[GeneratorState]]'), ...named(told, '[[GeneratorFunction]]')];
    return (account(generator, pick) || []).map(([, value]) => value);
  }

  // Only within this may be asked: a program that runs would be held by our own questions.
  function within(answer) {
    left = MOST;
    try {
      return answer();
    } finally {
      left = 0;
    }
  }

  return { hand, privates, settled, proxied, generated, within };
})
