// The story's program: every language has one that does the same, with the same names and the same marks.
// `built/story.js` and its map are made of it by: tsc --target es2022 --module commonjs --sourceMap --removeComments --outDir built story.ts

const threads = require('node:worker_threads');

interface Tally {
  [word: string]: number;
}

function price(item: string, count: number): number {
  const cost: number = item.length * count; // @cost
  return cost; // @return
}

function tally(words: string[]): Tally {
  const seen: Tally = {}; // @empty
  for (var word of words) { // @for
    seen[word] = (seen[word] || 0) + 1; // @tally
  }
  return seen; // @seen
}

function shop(): number {
  let total: number = 0; // @total
  for (var count: number = 1; count < 7; count++) {
    total += price('fig', count); // @loop
    console.log('so far', total); // @print
  }
  const numbers: number[] = Array.from({ length: 100 }, (_, index: number) => index);
  return total + numbers[0]; // @numbers
}

function fail(total: number): never {
  throw new RangeError(`too much: ${total}`); // @raise
}

function careful(): string {
  try {
    fail(1);
  } catch (error) {
    return 'recovered'; // @recovered
  }
}

function spin(): never {
  let turns: number = 0;
  console.log('spinning');
  while (true) {
    turns += 1; // @spin
  }
}

function worker(): void {
  const mine: string = 'of the worker';
  console.log(mine); // @worker
}

function main(what: string): number {
  if (!threads.isMainThread) {
    worker();
  } else if (what === 'shop') {
    let total: number = shop();
    console.log('done', total); // @done
  } else if (what === 'tally') {
    console.log(tally(['a', 'b', 'a']));
  } else if (what === 'fail') {
    fail(2000);
  } else if (what === 'careful') {
    console.log(careful());
  } else if (what === 'spin') {
    spin();
  } else if (what === 'thread') {
    new threads.Worker(process.argv[1], { name: 'helper' });
  }
  return what === 'seven' ? 7 : 0; // @exit
}

process.exitCode = main(process.argv[2]);
