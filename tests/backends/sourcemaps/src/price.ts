export interface Item {
  name: string;
  cents: number;
}

export type Rate = number;

export enum Kind {
  Book,
  Food,
}

export function taxed(item: Item, kind: Kind, rate: Rate = 0.2): number {
  const free: boolean = kind === Kind.Book; // @free
  if (free) return item.cents; // @book

  return Math.round(item.cents * (1 + rate)); // @food
}
