'use strict';
// A text that was rewritten, and the text before: which place of the one is which of the other, for telling who called and for
// a program that reads its own source.
const { Places, lastBefore, lineStarts } = require('./parsing.cjs');

const MARK = '__stillframe_r.';

class Moved {
  // `edits` are the [offset in the text before, what was put in there], in their order.
  constructor({ file, text, edits, columns }) {
    Object.assign(this, { file, text, edits, columns });
  }

  // The work is done when somebody asks.
  get ready() {
    if (this.moves) return this;
    const parts = [];
    this.moves = [];
    let last = 0;
    let moved = 0;
    for (const [at, text] of this.edits) {
      parts.push(this.text.slice(last, at), text);
      this.moves.push([at + moved, at, 0], [at + moved + text.length, at, 1]);
      last = at;
      moved += text.length;
    }
    this.now = parts.join('') + this.text.slice(last);
    this.starts = lineStarts(this.now);
    this.places = new Places(this.text, this.file, this.columns);
    return this;
  }

  // File and line, as people know them, of a line and column from 1 as V8 knows them.
  original(line, column) {
    const { starts, places } = this.ready;
    if (line > starts.length) return undefined;
    return places.at(this.before(starts[line - 1] + column - 1 + (line === 1 ? this.columns : 0)));
  }

  before(offset) {
    const [now, then, step] = this.moves[lastBefore(this.moves, offset, ([at]) => at)] || [Infinity];
    return now <= offset ? then + step * (offset - now) : offset;
  }

  // What a piece of the text was before; undefined where it is no piece of it.
  unwritten(piece) {
    const at = this.ready.now.indexOf(piece);
    return at < 0 ? undefined : this.text.slice(this.before(at), this.before(at + piece.length));
  }
}

const known = new Map();

function know(moved) {
  known.set(moved.file, new Moved(moved));
}

function original(file, line, column) {
  const moved = known.get(file);
  return moved && moved.original(line, column);
}

// Programs send the text of their functions elsewhere, where no recorder is: they read what they wrote.
function mindTexts() {
  const { toString } = Function.prototype;
  Function.prototype.toString = new Proxy(toString, {
    apply(target, fn, words) {
      const text = Reflect.apply(target, fn, words);
      if (!text.includes(MARK)) return text;
      for (const each of known.values()) {
        const found = each.unwritten(text);
        if (found !== undefined) return found;
      }
      return text;
    },
  });
}

module.exports = { know, mindTexts, original };
