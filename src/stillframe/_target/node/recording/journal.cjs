'use strict';
// The file that one process or worker writes what it has to tell into, at once: whatever ends it, what was told is there.
const fs = require('fs');
const path = require('path');

const { openSync, writeSync } = fs; // as they are now: a program may put others in their place
const { stringify } = JSON;
const { round } = Math;
const ROOM = 1 << 16;
const OFTEN = 32; // so many times a number is written each time that it changes
const SELDOM = 16; // and then each so many times, at the end of the program's turn, and at its end

class Journal {
  constructor(folder) {
    this.descriptor = open(folder);
    this.at = 0;
    this.numbers = [];
    this.waiting = '';
    this.turn = Promise.resolve();
    this.settle = () => this.flush();
    this.isSettling = false;
    this.isEnding = false;
    this.broken = false;
  }

  // One thing told, as an array that begins with its kind.
  tell(said) {
    this.line(stringify(said) + '\n');
  }

  line(text) {
    if (this.waiting) this.drain();
    this.at += this.write(text, this.at);
  }

  // One thing of many alike: written together with the numbers that go with it.
  soon(said) {
    this.waiting += stringify(said) + '\n';
    if (this.isEnding || this.waiting.length > ROOM >> 3) this.drain();
    else this.later();
  }

  drain() {
    const text = this.waiting;
    this.waiting = '';
    if (text) this.at += this.write(text, this.at);
  }

  write(text, at) {
    if (this.broken) return 0;
    try {
      return writeSync(this.descriptor, text, at);
    } catch (error) { // a full disk, or a program that closes what it did not open: it must not suffer from us
      this.broken = true;
      return 0;
    }
  }

  // Numbers that change: told again in their place.
  numbersOf(text) {
    const made = new Numbers(this, text);
    this.numbers.push(made);
    return made;
  }

  flush() {
    this.isSettling = false;
    this.drain();
    for (const each of this.numbers) if (each.changed || each.lags) each.write();
  }

  // Writes them when the program comes to rest, once for as much as there was to do until then.
  later() {
    if (this.isSettling) return;
    this.isSettling = true;
    this.turn.then(this.settle);
  }

  end() {
    this.isEnding = true;
    this.flush();
  }
}

class Numbers {
  constructor(journal, text) {
    this.journal = journal;
    this.text = text;
    this.place = -1;
    this.room = 0;
    this.count = 0;
    this.changed = 0;
    this.lags = false; // whether what is written may be left behind: a kill leaves it so
  }

  touch() {
    this.count += 1;
    this.changed += 1;
    if (this.count < OFTEN || this.journal.isEnding) return this.write();
    if (this.count === OFTEN || this.changed >= SELDOM) this.write(SELDOM - 1);
    return this.journal.later();
  }

  // `missing`: how many more there may be by the time that it is written again.
  write(missing = 0) {
    this.changed = 0;
    this.lags = missing > 0;
    const { journal } = this;
    if (journal.waiting) journal.drain();
    const text = this.text(missing);
    if (this.place < 0 || text.length > this.room) {
      if (this.place >= 0) journal.write(' '.repeat(this.room) + '\n', this.place);
      this.place = journal.at;
      this.room = text.length + round(text.length / 2) + 24;
      journal.line(text.padEnd(this.room) + '\n');
      return;
    }
    journal.write(text.padEnd(this.room), this.place);
  }
}

function open(folder) {
  for (let number = 0; ; number++) {
    try {
      return openSync(path.join(folder, `${process.pid}-${number}.told`), 'wx', 0o600);
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

module.exports = { Journal };
