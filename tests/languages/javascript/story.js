// The story's program: every language has one that does the same, with the same names and the same marks.

function price(item, count) {
  const cost = item.length * count; // @cost
  return cost; // @return
}

function tally(words) {
  const seen = {}; // @empty
  for (var word of words) { // @for
    seen[word] = (seen[word] || 0) + 1; // @tally
  }
  return seen; // @seen
}

function shop() {
  let total = 0; // @total
  for (var count = 1; count < 7; count++) {
    total += price('fig', count); // @loop
    console.log('so far', total); // @print
  }
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  return total + numbers[0]; // @numbers
}

function fail(total) {
  throw new RangeError(`too much: ${total}`); // @raise
}

function careful() {
  try {
    fail(1);
  } catch (error) {
    return 'recovered'; // @recovered
  }
}

function spin() {
  let turns = 0;
  console.log('spinning');
  while (true) {
    turns += 1; // @spin
  }
}

function worker() {
  const mine = 'of the worker';
  console.log(mine); // @worker
}

function main(what) {
  const { Worker, isMainThread } = require('worker_threads');
  if (!isMainThread) {
    worker();
  } else if (what === 'shop') {
    let total = shop();
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
    new Worker(__filename, { name: 'helper' });
  }
  return what === 'seven' ? 7 : 0; // @exit
}

process.exitCode = main(process.argv[2]);
