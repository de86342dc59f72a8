// Picks the cheapest offer of each product, and gets one wrong. Which line makes it so?

function cheapest(prices) {
  const sorted = [...prices].sort();
  return sorted[0];
}

const offers = { lamp: [31, 27.5, 29], chair: [104, 98, 120] };
for (const [product, prices] of Object.entries(offers)) {
  console.log(product, cheapest(prices));
}
