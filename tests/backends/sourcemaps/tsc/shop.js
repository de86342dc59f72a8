"use strict";
var __awaiter = (this && this.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};
Object.defineProperty(exports, "__esModule", { value: true });
const price_1 = require("./price");
class Basket {
    constructor() {
        this.items = [];
    }
    add(item, kind) {
        this.items.push([item, kind]); // @push
        return this;
    }
    total() {
        return __awaiter(this, void 0, void 0, function* () {
            let sum = 0; // @sum
            for (const [item, kind] of this.items) {
                sum += yield Promise.resolve((0, price_1.taxed)(item, kind)); // @await
            }
            return sum; // @total
        });
    }
}
const basket = new Basket(); // @basket
basket.add({ name: "ink", cents: 250 }, price_1.Kind.Food).add({ name: "atlas", cents: 4000 }, price_1.Kind.Book); // @add
basket.total().then((sum) => console.log(sum)); // @log
//# sourceMappingURL=shop.js.map