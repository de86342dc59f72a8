// What the reporters of ours tell of an error: its name, message and calls, and what was compared, as Node itself would show it.
"use strict";
const { inspect } = require("node:util");

const SHORT = { depth: 2, maxArrayLength: 8, maxStringLength: 160, breakLength: Infinity, compact: true, getters: false };

function told(value) {
  try {
    return inspect(value, SHORT).slice(0, 400);
  } catch {
    return "<cannot be shown>";
  }
}

const both = (actual, expected) => [told(actual), told(expected)];

function evidence(error, shown = both) {
  const message = error && error.message ? String(error.message) : told(error); // anything can be thrown
  const row = { type: String((error && error.name) || ""), message, stack: "" };
  if (error && typeof error.stack === "string") row.stack = error.stack.slice(0, 8000);
  if (error && typeof error === "object" && "actual" in error && "expected" in error) {
    [row.actual, row.expected] = shown(error.actual, error.expected);
  }
  return row;
}

// Half a character, which a text of JavaScript may end in, is none elsewhere.
const whole = (_, value) => (typeof value === "string" ? Buffer.from(value).toString() : value);

function line(said) {
  return JSON.stringify(said, whole) + "\n";
}

module.exports = { evidence, both, line };
