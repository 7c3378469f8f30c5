// The numbers of orders are words. orders.js is this file as a bundler writes it, next to its source map.
function isOrderNumber(text: string): boolean {
  return /^(\w+\s?)*$/.test(text);
}

for (;;)
  isOrderNumber('a slow pattern ' + Math.random() + '!');
