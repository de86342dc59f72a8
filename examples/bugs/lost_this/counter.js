// Counts how often each page was seen.
class Counter {
  constructor(name) {
    this.name = name;
    this.seen = new Map();
  }

  hit(page) {
    this.seen.set(page, (this.seen.get(page) ?? 0) + 1);
  }
}

function replay(pages, visit) {
  for (const page of pages) visit(page);
}

const counter = new Counter("site");
counter.hit("/");
replay(["/", "/about", "/"], counter.hit);
console.log(counter.seen);
