function amount(line) {
    const factor = 1 - line.discount;
    return line.price * factor;
}
function sum(lines) {
    let out = 0;
    for (const line of lines) {
        const part = amount(line);
        out += part;
    }
    return out;
}
const lines = [
    { sku: "A-1", price: 20, discount: 0.1 },
    { sku: "B-2", price: 5, discount: 0 },
    { sku: "C-3", price: 12 },
    { sku: "D-4", price: 8, discount: 0.5 },
];
console.log("to pay", sum(lines).toFixed(2));
//# sourceMappingURL=invoice.js.map