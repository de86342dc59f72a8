// The program of the standard job: a function with a loop and a few locals; prints when it ended if asked to.

function tally(words) {
  const seen = {};
  for (const word of words) {
    seen[word] = (seen[word] || 0) + 1;
    if (seen[word] > 1) {
      console.log('again', word);
    }
  }
  return seen;
}

const counts = tally(['a', 'b', 'a', 'c', 'b']);
console.log(Object.keys(counts).length);
if (process.argv.includes('--clock')) {
  console.log(Number(process.hrtime.bigint()) / 1e9);
}
