// A reporter for Mocha that tells of each test in a line of JSON, at once. Mocha's own report in JSON comes when all is over, and
// has of what was compared only what JSON has: no undefined, no Map, no pattern.
"use strict";
const { appendFileSync } = require("node:fs");
const { evidence, both, line } = require("./reporting.cjs");
const { Printed, listen } = require("./printing.cjs");

function pathOf(test) {
  if (typeof test.titlePath === "function") return test.titlePath();
  return [test.fullTitle()]; // before Mocha 4
}

// Of what workers compared comes what they could send: texts that Mocha made of both, the same ones where JSON cannot tell them apart,
// or, of values of two kinds, what JSON leaves of them.
function sent(actual, expected) {
  const texts = [actual, expected].map(String);
  const isPlain = [actual, expected].every((each) => typeof each !== "object" || each === null);
  return isPlain && texts[0] !== texts[1] ? texts.map((each) => each.slice(0, 400)) : [];
}

module.exports = function Reporter(runner, options = {}) {
  const { output } = options.reporterOptions || options.reporterOption || {};
  const say = (kind, test, more) =>
    appendFileSync(output, line({ kind, file: test.file, titles: pathOf(test), hook: test.type === "hook", ...more }));
  const shown = options.parallel ? sent : both;
  // A test's own are what is printed from its beginning on, its hooks included, until another one or a suite's hook begins. In
  // workers it is printed elsewhere, and nobody knows by which test.
  let printed = new Printed();
  const deafen = options.parallel ? () => {} : listen((...chunk) => printed.take(...chunk));
  appendFileSync(output, line({ kind: "hello", parallel: Boolean(options.parallel) }));
  runner.on("hook", (hook) => {
    if (/^"(?:before|after) all"/.test(hook.title)) printed = new Printed();
  });
  runner.on("test", (test) => {
    printed = new Printed();
    say("running", test);
  });
  runner.on("pass", (test) => say("passed", test));
  runner.on("pending", (test) => say("skipped", test));
  runner.on("fail", (test, error) => say("failed", test, { error: evidence(error, shown), ...printed.told() }));
  runner.on("test end", (test) => say("over", test));
  runner.on("end", () => {
    deafen();
    appendFileSync(output, line({ kind: "end" }));
  });
};
