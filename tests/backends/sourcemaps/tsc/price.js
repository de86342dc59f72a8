"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Kind = void 0;
exports.taxed = taxed;
var Kind;
(function (Kind) {
    Kind[Kind["Book"] = 0] = "Book";
    Kind[Kind["Food"] = 1] = "Food";
})(Kind || (exports.Kind = Kind = {}));
function taxed(item, kind, rate = 0.2) {
    const free = kind === Kind.Book; // @free
    if (free)
        return item.cents; // @book
    return Math.round(item.cents * (1 + rate)); // @food
}
//# sourceMappingURL=price.js.map