// Ten calls at once; what they give is added up.
const pairs = Array.from({ length: 10 }, (_, i) => ({ a: i, b: i * i }));
const sums = await Promise.all(pairs.map((pair) => mcp.everything['get-sum'](pair)));
const numbers = sums.map((sum) => Number(/is (-?\d+)/.exec(sum)?.[1]));
return numbers.reduce((total, n) => total + n, 0);
