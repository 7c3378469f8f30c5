function i(e){return/^(\w+\s?)*$/.test(e)}
for(;;)i("a slow pattern "+Math.random()+"!");
//# sourceMappingURL=orders.js.map
