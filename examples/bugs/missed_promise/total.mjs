// What a basket costs; prices come from a service.
const prices = { pen: 1.5, ink: 6.25, paper: 3 };

async function priceOf(sku) {
  await new Promise((done) => setTimeout(done, 1));
  return prices[sku];
}

async function total(basket) {
  let sum = 0;
  for (const { sku, count } of basket) {
    const price = sku === "ink" ? priceOf(sku) : await priceOf(sku);
    sum += price * count;
  }
  return sum;
}

console.log(await total([{ sku: "pen", count: 2 }, { sku: "ink", count: 1 }, { sku: "paper", count: 4 }]));
