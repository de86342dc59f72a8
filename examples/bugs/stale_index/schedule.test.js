const test = require("node:test");
const assert = require("node:assert");
const { reminders } = require("./schedule.js");

test("no meeting, no reminder", () => {
  assert.deepStrictEqual(reminders([]), []);
});

test("each reminder names its meeting", () => {
  const made = reminders(["stand-up", "review"]);
  const said = made[0]();
  assert.strictEqual(said, "stand-up in 10 minutes");
});
