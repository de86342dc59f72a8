// A reporter for node:test (18.15 and later) that tells of each test in a line of JSON, its error with what was compared.
"use strict";
const { resolve } = require("node:path");
const { evidence, line } = require("./reporting.cjs");
const { newest, characters } = require("./printing.cjs");

function failure(error) {
  const cause = error && typeof error.cause === "object" && error.cause !== null ? error.cause : error;
  return { ...evidence(cause), kind: String((error && error.failureType) || ""), exit: error && error.exitCode };
}

module.exports = async function* reporter(source) {
  const titles = [];
  yield line({ kind: "hello", version: process.version.slice(1), executable: process.execPath });
  for await (const { type, data } of source) {
    if (type === "test:start") {
      titles.length = data.nesting;
      titles.push(data.name);
      yield line({ kind: "running", file: data.file, titles });
    } else if (type === "test:pass" || type === "test:fail") {
      const { skip, todo, details = {} } = data;
      const row = { kind: "test", passed: type === "test:pass", file: data.file, line: data.line, type: details.type };
      row.titles = [...titles.slice(0, data.nesting), data.name];
      row.skip = skip === undefined ? null : skip === true ? "" : String(skip);
      row.todo = todo !== undefined && todo !== false;
      if (type === "test:fail") row.error = failure(details.error);
      yield line(row);
    } else if (type === "test:stdout" || type === "test:stderr") {
      const file = data.file && resolve(data.file); // Node 24 names it as the command did, elsewhere by its whole path
      const text = String(data.message);
      yield line({ kind: "printed", stream: type.slice(5), file, text: newest(text), total: characters(text) });
    } else if (type === "test:diagnostic" && /^(?:Warning|Error): /.test(data.message)) {
      yield line({ kind: "said", file: data.file && resolve(data.file), text: `${data.message}\n` });
    }
  }
  yield line({ kind: "end" });
};
