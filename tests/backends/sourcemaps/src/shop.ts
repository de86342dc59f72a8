import { Item, Kind, taxed } from "./price";

class Basket {
  private readonly items: Array<[Item, Kind]> = [];

  add(item: Item, kind: Kind): this {
    this.items.push([item, kind]); // @push
    return this;
  }

  async total(): Promise<number> {
    let sum = 0; // @sum
    for (const [item, kind] of this.items) {
      sum += await Promise.resolve(taxed(item, kind)); // @await
    }
    return sum; // @total
  }
}

const basket = new Basket(); // @basket
basket.add({ name: "ink", cents: 250 }, Kind.Food).add({ name: "atlas", cents: 4000 }, Kind.Book); // @add
basket.total().then((sum) => console.log(sum)); // @log
