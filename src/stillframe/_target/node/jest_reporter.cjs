// A reporter for Jest, beside its own ones, that tells what the tests of each file printed: Jest does not tell which test it was.
"use strict";
const { appendFileSync } = require("node:fs");
const { line } = require("./reporting.cjs");
const { Printed, listen } = require("./printing.cjs");

const TO_STDERR = new Set(["error", "warn", "assert"]);
// What Jest makes of a call of console where it does not keep it until the file is over: one write for each.
const CONSOLE = /^ {2}console\.(\w+)\n((?: {4}.*\n|\n)*?)(?:\n(?:.*\n)*? {6}at .*\n)?\s*$/;

function put(printed, type, message) {
  printed.take(TO_STDERR.has(type) ? "stderr" : "stdout", `${message}\n`);
}

module.exports = (output) =>
  class Reporter {
    constructor() {
      this.open = new Map(); // the files that are under way, with what was heard of each
      this.together = false;
      this.run = new Printed();
    }

    onRunStart() {
      this.deafen = listen((...chunk) => this.hear(...chunk));
    }

    // What is written past console, and what console writes at once, is a file's as long as one at a time is under way: other
    // reporters speak when it is over. Of several, workers send what they print as bytes; what is text are words of reporters.
    hear(stream, chunk, encoding) {
      if (this.together ? typeof chunk === "string" : !this.open.size) return;
      const printed = this.together ? this.run : this.open.values().next().value;
      const match = typeof chunk === "string" && CONSOLE.exec(chunk);
      if (match) put(printed, match[1], match[2].replace(/^ {4}/gm, "").trimEnd());
      else printed.take(stream, chunk, encoding);
    }

    onTestFileStart({ path }) {
      if (this.open.size) this.together = true;
      this.open.set(path, new Printed());
    }

    onTestFileResult({ path }, result) {
      const printed = this.open.get(path) || new Printed();
      this.open.delete(path);
      for (const { type, message } of result.console || []) put(printed, type, message);
      appendFileSync(output, line({ kind: "printed", file: path, ...printed.told() }));
    }

    onRunComplete() {
      this.deafen();
      appendFileSync(output, line({ kind: "printed", ...this.run.told() }));
    }
  };
