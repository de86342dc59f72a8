// An account that two orders are paid from at the same time.
const account = { balance: 100 };

async function confirmed(amount) {
  await new Promise((done) => setTimeout(done, 1)); // as a bank would
  return amount;
}

async function pay(amount) {
  const before = account.balance;
  const paid = await confirmed(amount);
  account.balance = before - paid;
}

await Promise.all([pay(30), pay(50)]);
console.log("left", account.balance);
