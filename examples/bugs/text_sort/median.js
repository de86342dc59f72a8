// The median of some measured times.
function median(times) {
  const sorted = [...times].sort();
  const middle = Math.floor(sorted.length / 2);
  const value = sorted[middle];
  return value;
}

console.log("median", median([100, 9, 8, 11, 1000, 7, 80]));
