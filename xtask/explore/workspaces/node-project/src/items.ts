export interface Item {
  name: string;
  price: number;
}

export function parse(text: string): Item[] {
  return JSON.parse(text) as Item[];
}
