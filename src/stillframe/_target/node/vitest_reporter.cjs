// A reporter for Vitest, beside its own ones, that tells what each test printed through console, since Vitest knows which one it
// was, what it compared, and what its report in JSON does not say of an error.
"use strict";
const { appendFileSync } = require("node:fs");
const { line } = require("./reporting.cjs");
const { Printed, listen } = require("./printing.cjs");

const LONG = 8000; // characters of what was compared, and of its difference

function titlesOf(task) {
  return task.type === "suite" ? [] : [...(task.suite ? pathOf(task.suite) : []), task.name];
}

function pathOf(suite) {
  return suite.filepath ? [] : [...(suite.suite ? pathOf(suite.suite) : []), suite.name];
}

function whoseIs(task) {
  return { file: task.file.filepath, titles: titlesOf(task), task: task.id };
}

module.exports = (output) =>
  class Reporter {
    constructor() {
      this.run = new Printed();
    }

    // What is written past console comes from the workers as bytes, of nobody knows which test; what is text are the words of
    // other reporters.
    onInit(vitest) {
      this.tasks = vitest.state.idMap;
      this.deafen = listen((stream, chunk) => typeof chunk === "string" || this.run.take(stream, chunk));
    }

    onUserConsoleLog({ taskId, type, content }) {
      const printed = new Printed();
      printed.take(type, content);
      const task = this.tasks.get(taskId);
      const whose = task ? { file: task.file.filepath, titles: titlesOf(task), task: taskId } : {};
      appendFileSync(output, line({ kind: "printed", ...whose, ...printed.told() }));
    }

    onTestRunEnd() {
      this.over();
    }

    onFinished() {
      this.over(); // before Vitest 3
    }

    // Vitest's report in JSON tells of what was compared in the words of the message alone, where long values are cut.
    compared(task, { actual, expected, diff }) {
      if (typeof actual !== "string" || typeof expected !== "string") return;
      const told = { actual: actual.slice(0, LONG), expected: expected.slice(0, LONG), diff: (diff || "").slice(0, LONG) };
      appendFileSync(output, line({ kind: "compared", ...whoseIs(task), ...told }));
    }

    // Of an error that has a stack the report in JSON has that alone. A test that took too long has one that was made before, whose
    // own words are no message (STACK_TRACE_ERROR).
    said(task, { name, message, stack }) {
      if (typeof message !== "string" || message === "" || typeof stack !== "string" || stack.includes(message)) return;
      appendFileSync(output, line({ kind: "said", ...whoseIs(task), type: String(name), message: message.slice(0, LONG) }));
    }

    over() {
      this.deafen();
      for (const task of this.tasks.values()) {
        const [error] = (task.type === "test" && task.result && task.result.state === "fail" && task.result.errors) || [];
        if (!error) continue;
        this.compared(task, error);
        this.said(task, error);
      }
      appendFileSync(output, line({ kind: "printed", ...this.run.told() }));
      this.run = new Printed();
    }
  };
