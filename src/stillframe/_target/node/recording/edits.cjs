'use strict';
// Text put into a text, so that what encloses stays outside of what it encloses; no line of the text moves.

class Edits {
  constructor() {
    this.made = [];
  }

  // `before` at the start and `after` at the end of what is between them.
  wrap(start, end, before, after) {
    const order = this.made.length;
    if (before) this.made.push({ at: start, opens: true, other: end, order, text: before });
    if (after) this.made.push({ at: end, opens: false, other: start, order, text: after });
  }

  before(node, text) {
    this.wrap(node.start, node.end, text, '');
  }

  after(node, text) {
    this.wrap(node.start, node.end, '', text);
  }

  applied(text) {
    const parts = [];
    let last = 0;
    this.made.sort(inOrder);
    for (const each of this.made) {
      parts.push(text.slice(last, each.at), each.text);
      last = each.at;
    }
    return parts.join('') + text.slice(last);
  }

  // [offset, what was put in there], in their order.
  get told() {
    return this.made.map(({ at, text }) => [at, text]);
  }
}

// What ends somewhere comes before what begins there; of those that begin the widest first, of those that end the narrowest.
function inOrder(one, other) {
  if (one.at !== other.at) return one.at - other.at;
  if (one.opens !== other.opens) return one.opens ? 1 : -1;
  if (one.opens) return other.other - one.other || one.order - other.order;
  return other.other - one.other || other.order - one.order;
}

module.exports = { Edits };
