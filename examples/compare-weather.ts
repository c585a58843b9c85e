// Asks for the weather of three cities at once, notes down the choice as a thought, and writes a page about it.
const cities = ['New York', 'Chicago', 'Los Angeles'] as const;
const weather = await Promise.all(
  cities.map(async (location) => ({ location, ...(await mcp.everything['get-structured-content']({ location })) })),
);
const [warmest] = weather.sort((one, other) => other.temperature - one.temperature);

const thought = `${warmest.location} is the warmest of ${cities.length}, with ${warmest.temperature} °C`;
await mcp.thinking.sequentialthinking({ thought, thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false });
const lines = weather.map(({ location, temperature, conditions }) => `- ${location}: ${temperature} °C, ${conditions}`);
await mcp.filesystem.write_file({ path: 'weather.md', content: `# ${thought}\n\n${lines.join('\n')}\n` });
return warmest;
